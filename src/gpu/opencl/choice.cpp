#include "gpu/opencl/choice.h"

#include <algorithm>

#include "base/error.h"
#include "device/device_list.h"

namespace lockstep::gpu::opencl {

void Choice::add(const std::string& name) {
  if (found_.empty()) throw Error(Fault::device, "there is no device {}: {}", name, missing_);
  const int index = device::index_of(name);
  const int last = static_cast<int>(found_.size()) - 1;
  const bool divisible = found_.back().cpu;
  const int most = divisible ? last + found_.back().facts.units - 1 : last;
  if (index > most)
    throw Error(Fault::device, "there is no device {}; there {} opencl:0{}", name, most == 0 ? "is" : "are",
                most == 0 ? "" : fmt::format(" to opencl:{}", most));
  wanted_.push_back({name, static_cast<std::size_t>(std::min(index, last)), index >= last && divisible});
}

int Choice::on_cores() const {
  return static_cast<int>(
      std::ranges::count_if(wanted_, [&](const Wanted& w) { return found_[w.device].cpu; }));
}

// The parts of the last device, or none if one name has all of it.
std::vector<OwnedDevice> Choice::divided(const Library& library, int threads) const {
  const auto parts = static_cast<int>(std::ranges::count_if(wanted_, &Wanted::may_divide));
  const Found& last = found_.back();
  if (parts == 0 || (parts == 1 && threads >= last.facts.units)) return {};
  if (parts * threads > last.facts.units)
    throw Error(Fault::usage,
                "{} has {} units for {} devices of {} threads each; ask for fewer devices or threads",
                last.facts.name, last.facts.units, parts, threads);
  return divide(library, last, std::vector<int>(static_cast<std::size_t>(parts), threads));
}

std::vector<std::unique_ptr<Driver>> Choice::make(const std::shared_ptr<const Library>& library,
                                                  const Options& options) const {
  std::vector<OwnedDevice> parts = divided(*library, options.threads);
  std::vector<std::unique_ptr<Driver>> drivers;
  drivers.reserve(wanted_.size());
  std::size_t next = 0;
  for (const Wanted& w : wanted_) {
    OpenClOptions each{.found = found_[w.device], .style = kLaneStyle, .cache = options.cache};
    each.found.facts.name = w.name;
    if (each.found.cpu) each.style = pack_style(each.found.vector_floats);
    if (w.may_divide && !parts.empty()) each.part = std::move(parts[next++]);
    drivers.push_back(make_opencl_driver(library, std::move(each)));
  }
  return drivers;
}

}  // namespace lockstep::gpu::opencl
