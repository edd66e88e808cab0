// Device names as people type them: `kind:i` is one device, a count stands first.
//   2           two of the best kind there is
//   3xcpu       cpu:0, cpu:1, cpu:2
//   cpu:0,cpu:4 these two; + joins as well
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::plan {

inline constexpr int kMostDevices = 1024;

// The devices of one run, in order. Throws Error(usage): no device, an unknown kind, the same device twice.
std::vector<std::string> parse_device_list(std::string_view text);

// Several settings, separated by commas; inside one, + joins devices.
std::vector<std::vector<std::string>> parse_device_settings(std::string_view text);

// The shortest text that gives these names: "3xcpu", "cpu:0+cpu:4".
std::string to_text(const std::vector<std::string>& names);

}  // namespace lockstep::plan
