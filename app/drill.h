// --drill KIND@STEP:DEVICE, a fire drill: makes a device go wrong, to see what becomes of it.
#pragma once
#include <optional>
#include <string>
#include <string_view>

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

// Adds the option. Requires: `drill` outlives the parser.
void add_drill(CLI::App& parser, std::optional<DeviceDrill>& drill);

}  // namespace lockstep::app
