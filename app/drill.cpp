#include "drill.h"

#include <algorithm>
#include <limits>

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "device/device_list.h"
#include "numbers.h"

namespace lockstep::app {
namespace {

using Kind = device::Drill::Kind;

Kind kind_named(std::string_view text) {
  const std::vector<std::string> names{"fail", "hang", "slow", "flip"};  // in the order of Kind
  const std::string name = known_name("--drill", text, names);
  return static_cast<Kind>(std::ranges::find(names, name) - names.begin());
}

}  // namespace

DeviceDrill parse_drill(std::string_view text) {
  const std::size_t at = text.find('@'), colon = text.find(':', at);
  if (at == std::string_view::npos || colon == std::string_view::npos)
    throw Error(Fault::usage, "--drill: expected KIND@STEP:DEVICE, as in flip@3:cpu:1, found '{}'", text);
  if (text.substr(colon + 1).starts_with("gpu"))
    throw Error(Fault::usage, "--drill: expected a device's own name, as cuda:0, found '{}'",
                text.substr(colon + 1));
  const std::vector<std::string> devices = device::parse_device_list(text.substr(colon + 1));
  if (devices.size() != 1)
    throw Error(Fault::usage, "--drill: expected one device, found '{}'", text.substr(colon + 1));
  return {devices[0],
          {.kind = kind_named(text.substr(0, at)),
           .step = whole_number("--drill: step", text.substr(at + 1, colon - at - 1),
                                {1, std::numeric_limits<int>::max()})}};
}

void expect_drill_happens(const std::optional<DeviceDrill>& drill, const std::vector<std::string>& devices,
                          std::int64_t steps) {
  if (!drill) return;
  if (std::ranges::find(devices, drill->device) == devices.end())
    throw Error(Fault::usage, "--drill: {} is not among the devices {}", drill->device,
                device::to_text(devices));
  if (drill->drill.step > steps)
    throw Error(Fault::usage, "--drill: step {} never comes: {} step{} to run", drill->drill.step, steps,
                steps == 1 ? " is" : "s are");
}

void add_drill(CLI::App& parser, std::optional<DeviceDrill>& drill) {
  parser
      .add_option_function<std::string>(
          "--drill", [&drill](const std::string& text) { drill = parse_drill(text); },
          "A fire drill: fail, hang, slow or flip (a bit) at a step on a device, as in flip@3:cpu:1")
      ->type_name("KIND@STEP:DEVICE")
      ->group("Drill");
}

}  // namespace lockstep::app
