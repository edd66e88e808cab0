// The exchange of a program by itself, without the packs that make its sums: what lies in the partial sums is
// exchanged again and again.
#pragma once
#include <deque>
#include <vector>

#include "run/exchange_run.h"

namespace lockstep::measure {

// For segments that are run without anybody who waits for their sums.
struct NobodyWatches final : device::Watcher {
  void begin(const program::Instruction& /*instruction*/) override {}
  void complete(program::BufferId /*partial*/) override {}
};

class LoneExchange {
 public:
  struct Options {
    run::Crew& crew;
    const program::Program& program;
    std::vector<device::Executable*> executables;  // by device, which have run packs of the input before
    device::StepInput input;
  };

  // Requires: what the options refer to outlives it.
  LoneExchange(Options options, const program::exchange::Kind& kind);

  // One exchange on all devices.
  void run();

  const std::vector<program::exchange::List>& lists() const { return lists_; }

 private:
  const Options options_;
  std::vector<program::exchange::List> lists_;  // by device
  std::deque<run::StepClock> clocks_;
  std::deque<run::ExchangeRun> runs_;
};

}  // namespace lockstep::measure
