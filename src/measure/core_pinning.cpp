#include "measure/core_pinning.h"

#include <cerrno>
#include <string>
#include <system_error>

#include <sched.h>

#include "base/error.h"

namespace lockstep::measure {
namespace {

std::string reason() { return std::generic_category().message(errno); }

}  // namespace

std::vector<int> usable_core_numbers() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0) {
    throw Error(Fault::device, "cannot ask which cores this process may use: {}", reason());
  }
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(static_cast<std::size_t>(core), &set)) cores.push_back(core);
  }
  return cores;
}

void pin_this_thread(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(core), &set);
  if (sched_setaffinity(0, sizeof(set), &set) != 0) {
    throw Error(Fault::device, "cannot bind a thread to core {}: {}", core, reason());
  }
}

}  // namespace lockstep::measure
