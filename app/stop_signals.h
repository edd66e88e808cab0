// Ctrl-C and SIGTERM while an object of this class lives: the first signal is noted, so that training can end
// at a step boundary and save; the second ends the process at once. There is at most one such object.
#pragma once
#include <csignal>

namespace lockstep::app {

class StopSignals {
 public:
  StopSignals();
  ~StopSignals();  // signals do again what they did before
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // The signal that came first, 0 if none did.
  int received() const;

  // What the shell expects of a process that the signal ended: 130, 143.
  int exit_code() const { return 128 + received(); }

 private:
  struct sigaction interrupt_before_ {};
  struct sigaction terminate_before_ {};
};

}  // namespace lockstep::app
