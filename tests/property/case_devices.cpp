#include "property/case_devices.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cpu/cpu_device.h"

namespace lockstep::property {

std::vector<const GpuKind*> present_gpu_kinds() {
  std::vector<const GpuKind*> present;
  for (const GpuKind& kind : gpu_kinds()) {
    if (!kind.devices.empty()) present.push_back(&kind);
  }
  return present;
}

CaseDevices::CaseDevices(const Case& c) : all_(static_cast<std::size_t>(c.devices), nullptr) {
  const std::vector<const GpuKind*> kinds = present_gpu_kinds();
  const GpuKind* const kind =
      c.gpus == 0 || kinds.empty() ? nullptr : kinds[static_cast<std::size_t>(c.gpu_kind) % kinds.size()];
  std::size_t next_gpu = 0;
  std::vector<std::string> names;
  for (std::size_t d = 0; d < all_.size(); ++d) {
    if (kind != nullptr && (c.gpus >> d & 1) != 0 && next_gpu < kind->devices.size()) {
      all_[d] = kind->devices[next_gpu++].get();
      gpu_kind_ = kind->name;
    } else {
      names.push_back(fmt::format("cpu:{}", d));
    }
    gpus_.push_back(all_[d] != nullptr);
  }
  if (names.empty()) return;
  own_ = cpu::make_cpu_devices({.names = names, .threads = c.threads, .bind = false});
  auto next = own_.begin();
  for (device::Device*& device : all_) {
    if (device == nullptr) device = (next++)->get();
  }
}

std::string CaseDevices::kinds_text() const {
  std::vector<std::string> kinds;
  for (const bool gpu : gpus_) kinds.push_back(gpu ? gpu_kind_ : "cpu");
  return fmt::format("{}", fmt::join(kinds, "+"));
}

}  // namespace lockstep::property
