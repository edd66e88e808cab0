#include "sweep_run_name.h"

#include <algorithm>

#include <fmt/format.h>

#include "device/device_list.h"

namespace lockstep::app {
namespace {

// 1xcpu, 2xcpu, cpu1+opencl0: without the colons that other tools take for the end of a path.
std::string devices_text(const std::vector<std::string>& devices) {
  std::string text = device::to_text(devices);
  if (devices.size() == 1 && device::index_of(text) == 0) return fmt::format("1x{}", device::kind_of(text));
  std::erase(text, ':');
  return text;
}

}  // namespace

std::string SweepRunNames::next(double lr, int batch, const std::vector<std::string>& devices) {
  const std::string plain = fmt::format("lr-{}_batch-{}_{}", lr, batch, devices_text(devices));
  std::string name = plain;
  for (int number = 2; !given_.insert(name).second; ++number) name = fmt::format("{}_{}", plain, number);
  return name;
}

}  // namespace lockstep::app
