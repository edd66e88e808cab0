// A test program that crashes says where, also on a machine that keeps no core files: drivers bring threads
// and code of their own.
#if !defined(LOCKSTEP_SANITIZED)  // sanitizers say more
#include <array>

#include <execinfo.h>
#include <signal.h>
#include <unistd.h>

namespace {

extern "C" void trace_and_die(int signal) {
  std::array<void*, 64> frames{};
  backtrace_symbols_fd(frames.data(), backtrace(frames.data(), static_cast<int>(frames.size())),
                       STDERR_FILENO);
  raise(signal);  // with the default action, which SA_RESETHAND has brought back
}

bool watch_for_crashes() {
  std::array<void*, 1> first{};
  backtrace(first.data(), 1);  // loads what it needs now: a handler cannot
  struct sigaction action = {};
  action.sa_handler = trace_and_die;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  bool watched = true;
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE})
    watched = sigaction(signal, &action, nullptr) == 0 && watched;
  return watched;
}

[[maybe_unused]] const bool kWatched = watch_for_crashes();

}  // namespace
#endif
