// The exchange of programs by itself, without the packs that make their sums: what lies in the partial sums
// is exchanged again and again.
#pragma once
#include <deque>
#include <vector>

#include "run/exchange_run.h"

namespace lockstep::measure {

// For segments that are run without anything that waits for their events.
struct NoWatcher final : device::Watcher {
  void begin(const program::Instruction& /*instruction*/) override {}
  void signal(program::EventId /*event*/) override {}
};

class LoneExchange {
 public:
  struct Options {
    run::Crew& crew;
    std::vector<program::Program> programs;        // by device
    std::vector<device::Executable*> executables;  // by device, which know the programs
    int number = 0;                                // of the programs
    device::StepInput input;
  };

  // Requires: what the options refer to outlives it.
  explicit LoneExchange(Options options);

  // One exchange on all devices.
  void run();

  const std::vector<program::Program>& programs() const { return options_.programs; }

 private:
  const Options options_;
  std::deque<run::StepClock> clocks_;
  std::deque<run::ExchangeRun> runs_;
};

}  // namespace lockstep::measure
