// --drill KIND@STEP:DEVICE: makes a device fail on purpose, to test how the program reacts.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device/faulty_device.h"

namespace CLI {
class App;
}

namespace lockstep::app {

struct DeviceDrill {
  std::string device;  // cpu:1
  device::Drill drill;
};

// "flip@3:cpu:1". Throws Error(usage).
DeviceDrill parse_drill(std::string_view text);

// Throws Error(usage) for a drill that would never happen: its device is not among `devices`, or its step is
// beyond the `steps` that they run. Such a drill would be taken for one that did no harm.
void expect_drill_happens(const std::optional<DeviceDrill>& drill, const std::vector<std::string>& devices,
                          std::int64_t steps);

// Adds the option. Requires: `drill` outlives the parser.
void add_drill(CLI::App& parser, std::optional<DeviceDrill>& drill);

}  // namespace lockstep::app
