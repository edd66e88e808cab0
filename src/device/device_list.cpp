#include "device/device_list.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "base/error.h"
#include "base/nearest.h"

namespace lockstep::device {
namespace {

const std::array<std::string, 4> kKinds{"cpu", "opencl", "cuda", "gpu"};
constexpr std::string_view kAnyGpu = "gpu", kCpu = "cpu", kAuto = "auto";

[[noreturn]] void refuse(std::string_view text, std::string_view why) {
  throw Error(Fault::usage,
              "device '{}': {}; expected a count (2), a count of a kind (3xcpu) or names (cpu:0,cpu:1)", text,
              why);
}

std::vector<std::string_view> split(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find_first_of(separators);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<int> number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

void expect_kind(std::string_view item, std::string_view kind) {
  if (std::ranges::find(kKinds, kind) != kKinds.end()) return;
  throw Error(Fault::usage, "device '{}': there is no device of kind '{}'{}", item, kind,
              suggestion(kind, kKinds));
}

// One list: what its items mean, on a machine that is asked for its GPUs at most once.
class List {
 public:
  explicit List(const DevicesHere& here) : here_(here) {}

  std::vector<std::string> parse(std::string_view text, std::string_view separators) {
    for (const std::string_view item : split(text, separators)) add(item);
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const auto end = names_.begin() + static_cast<std::ptrdiff_t>(i);
      if (std::find(names_.begin(), end, names_[i]) != end)
        throw Error(Fault::usage, "devices '{}': {} is there twice; name each device once", text, names_[i]);
    }
    if (static_cast<int>(names_.size()) > kMostDevices)
      refuse(text, fmt::format("more than {} devices", kMostDevices));
    return std::move(names_);
  }

 private:
  void add(std::string_view item) {
    if (item.empty()) refuse(item, "nothing between the separators");
    if (item == kAuto) return add_best();
    if (const std::optional<int> count = number(item)) return add_any(item, *count);
    const std::size_t colon = item.find(':');
    if (colon != std::string_view::npos)
      return add_index(item, item.substr(0, colon), item.substr(colon + 1));
    const std::size_t times = item.find('x');
    const std::optional<int> count =
        times == std::string_view::npos ? std::nullopt : number(item.substr(0, times));
    if (!count) return add_count(item, 1, item);  // a bare kind
    add_count(item, *count, item.substr(times + 1));
  }

  void add_best() {
    std::vector<std::string> usable;
    for (const std::string& gpu : gpus()) {
      const std::string refusal = here_.refusal(gpu);
      if (refusal.empty()) {
        usable.push_back(gpu);
      } else {
        here_.on_choice("auto: without " + refusal);
      }
    }
    if (usable.empty()) {
      names_.emplace_back("cpu:0");
      here_.on_choice(fmt::format("auto: cpu:0, as there is no GPU{}; lockstep devices says what is missing",
                                  gpus().empty() ? "" : " that may compute"));
    } else {
      names_.insert(names_.end(), usable.begin(), usable.end());
      here_.on_choice(fmt::format("auto: {}", fmt::join(usable, ", ")));
    }
  }

  // Where there is no GPU at all there was nothing to choose.
  void add_any(std::string_view item, int count) {
    expect_count(item, count);
    const bool enough = static_cast<int>(gpus().size()) >= count;
    if (enough) {
      here_.on_choice(fmt::format("devices {}: {}; for the CPU say {}xcpu", item,
                                  fmt::join(first_gpus(count), ", "), count));
    } else if (!gpus().empty()) {
      here_.on_choice(fmt::format("devices {}: {}xcpu, as there {} only {} ({})", item, count,
                                  gpus().size() == 1 ? "is" : "are", gpu_count(), fmt::join(gpus(), ", ")));
    }
    add_count(item, count, enough ? kAnyGpu : kCpu);
  }

  void add_index(std::string_view item, std::string_view kind, std::string_view digits) {
    const std::optional<int> index = number(digits);
    expect_kind(item, kind);
    if (!index || *index >= kMostDevices)
      refuse(item, fmt::format("the number is not one of 0 to {}", kMostDevices - 1));
    if (kind != kAnyGpu) {
      names_.push_back(fmt::format("{}:{}", kind, *index));
      return;
    }
    expect_gpus(item, *index + 1, 1);
    names_.push_back(gpus()[static_cast<std::size_t>(*index)]);
  }

  void add_count(std::string_view item, int count, std::string_view kind) {
    expect_kind(item, kind);
    expect_count(item, count);
    if (kind != kAnyGpu) {
      for (int i = 0; i < count; ++i) names_.push_back(fmt::format("{}:{}", kind, i));
      return;
    }
    expect_gpus(item, count, count);
    for (std::string& name : first_gpus(count)) names_.push_back(std::move(name));
  }

  static void expect_count(std::string_view item, int count) {
    if (count < 1) refuse(item, "no device at all");
    if (count > kMostDevices) refuse(item, fmt::format("more than {} devices", kMostDevices));
  }

  // `wanted`: as many CPU devices are what can be had instead.
  void expect_gpus(std::string_view item, int needed, int wanted) {
    if (static_cast<int>(gpus().size()) >= needed) return;
    const std::string found = gpus().empty()
                                  ? "there is no GPU (lockstep devices says what is missing)"
                                  : fmt::format("there {} only {} ({})", gpus().size() == 1 ? "is" : "are",
                                                gpu_count(), fmt::join(gpus(), ", "));
    throw Error(Fault::device, "device '{}': {}; {}xcpu runs on the CPU, with the same bits", item, found,
                wanted);
  }

  std::string gpu_count() { return fmt::format("{} GPU{}", gpus().size(), gpus().size() == 1 ? "" : "s"); }

  std::vector<std::string> first_gpus(int count) { return {gpus().begin(), gpus().begin() + count}; }

  const std::vector<std::string>& gpus() {
    if (!gpus_) gpus_ = here_.gpus();
    return *gpus_;
  }

  const DevicesHere& here_;
  std::optional<std::vector<std::string>> gpus_;
  std::vector<std::string> names_;
};

}  // namespace

std::vector<std::string> parse_device_list(std::string_view text, const DevicesHere& here) {
  return List(here).parse(text, ",+");
}

std::vector<std::vector<std::string>> parse_device_settings(std::string_view text, const DevicesHere& here) {
  std::vector<std::vector<std::string>> settings;
  for (const std::string_view setting : split(text, ",")) settings.push_back(List(here).parse(setting, "+"));
  return settings;
}

std::string to_text(const std::vector<std::string>& names) {
  for (const std::string& kind : kKinds) {
    if (names.size() < 2 || kind == kAnyGpu) continue;
    std::string counted = fmt::format("{}x{}", names.size(), kind);
    if (parse_device_list(counted) == names) return counted;
  }
  return fmt::format("{}", fmt::join(names, "+"));
}

std::string_view kind_of(std::string_view name) { return name.substr(0, name.find(':')); }

int index_of(std::string_view name) {
  if (const std::size_t colon = name.find(':'); colon != std::string_view::npos) {
    if (const std::optional<int> index = number(name.substr(colon + 1))) return *index;
  }
  throw Error(Fault::ours, "defect: '{}' is no name of a device", name);
}

bool all_cpu(const std::vector<std::string>& names) {
  return std::ranges::all_of(names, [](const std::string& name) { return kind_of(name) == "cpu"; });
}

}  // namespace lockstep::device
