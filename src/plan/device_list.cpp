#include "plan/device_list.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "base/error.h"
#include "base/nearest.h"

namespace lockstep::plan {
namespace {

const std::array<std::string, 1> kKinds{"cpu"};  // best first

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

void add_count(std::string_view item, int count, std::string_view kind, std::vector<std::string>& names) {
  if (count < 1) refuse(item, "no device at all");
  if (count > kMostDevices) refuse(item, fmt::format("more than {} devices", kMostDevices));
  for (int i = 0; i < count; ++i) names.push_back(fmt::format("{}:{}", kind, i));
}

void add_item(std::string_view item, std::vector<std::string>& names) {
  if (item.empty()) refuse(item, "nothing between the separators");
  if (const std::optional<int> count = number(item)) return add_count(item, *count, kKinds[0], names);
  const std::size_t colon = item.find(':');
  if (colon != std::string_view::npos) {
    const std::optional<int> index = number(item.substr(colon + 1));
    expect_kind(item, item.substr(0, colon));
    if (!index || *index >= kMostDevices)
      refuse(item, fmt::format("the number is not one of 0 to {}", kMostDevices - 1));
    names.push_back(fmt::format("{}:{}", item.substr(0, colon), *index));
    return;
  }
  const std::size_t times = item.find('x');
  const std::optional<int> count =
      times == std::string_view::npos ? std::nullopt : number(item.substr(0, times));
  if (!count) {
    expect_kind(item, item);  // a bare kind
    return add_count(item, 1, item, names);
  }
  expect_kind(item, item.substr(times + 1));
  add_count(item, *count, item.substr(times + 1), names);
}

std::vector<std::string> parse(std::string_view text, std::string_view separators) {
  std::vector<std::string> names;
  for (const std::string_view item : split(text, separators)) add_item(item, names);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i]) !=
        names.begin() + static_cast<std::ptrdiff_t>(i))
      throw Error(Fault::usage, "devices '{}': {} is there twice; name each device once", text, names[i]);
  }
  if (static_cast<int>(names.size()) > kMostDevices)
    refuse(text, fmt::format("more than {} devices", kMostDevices));
  return names;
}

}  // namespace

std::vector<std::string> parse_device_list(std::string_view text) { return parse(text, ",+"); }

std::vector<std::vector<std::string>> parse_device_settings(std::string_view text) {
  std::vector<std::vector<std::string>> settings;
  for (const std::string_view setting : split(text, ",")) settings.push_back(parse(setting, "+"));
  return settings;
}

std::string to_text(const std::vector<std::string>& names) {
  for (const std::string& kind : kKinds) {
    std::string counted = fmt::format("{}x{}", names.size(), kind);
    if (names.size() > 1 && parse(counted, "+") == names) return counted;
  }
  return fmt::format("{}", fmt::join(names, "+"));
}

}  // namespace lockstep::plan
