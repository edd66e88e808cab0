#include "cpu.h"

#include <cstdlib>
#include <string>

#include "base/error.h"
#include "device/cpu/cpu_device.h"
#include "environment.h"
#include "output.h"

namespace lockstep::app {
namespace {

[[noreturn]] void end_stuck_process(const std::string& who) {
  print_error(who + "; ending, what was saved stays");
  std::_Exit(static_cast<int>(Fault::device));
}

}  // namespace

std::unique_ptr<device::Device> make_cpu(int threads) {
  return device::cpu::make_cpu_device(
      {.threads = threads, .target = environment_variable("LOCKSTEP_TARGET"), .on_stuck = end_stuck_process});
}

}  // namespace lockstep::app
