// Live progress of a sweep for a person: a line for each run that has ended, with the time that is left, and
// for each warning.
// Between them, on a terminal, one line that is rewritten at most ten times a second; elsewhere a line every
// ten seconds.
#pragma once
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

#include "report/progress.h"
#include "report/sweep_row.h"

namespace lockstep::report {

class SweepProgress final : public train::Observer {
 public:
  using SecondsNow = Progress::SecondsNow;

  // Of `runs` runs in all. Requires: `out` outlives this.
  SweepProgress(std::ostream& out, const ProgressOptions& options, SecondsNow now, int runs);
  ~SweepProgress() override;  // leaves the cursor at the start of a line, even when a training threw
  SweepProgress(const SweepProgress&) = delete;
  SweepProgress& operator=(const SweepProgress&) = delete;

  // Before a run's training starts, and after it has ended; row.run is its name. `why` says of a run that
  // diverged where it did.
  void begin_run();
  void end_run(const SweepRow& row, std::string_view why = {});

  // Instead of end_run() where the user stops the sweep: says how to go on with the run kept in `directory`.
  void interrupt_run(const std::string& directory);

  void on_start(const train::RunStart& start) override;
  void on_step(const train::StepReport& step) override;
  void on_warning(const std::string& line) override;

 private:
  std::string number() const;
  std::optional<double> seconds_left() const;
  void clear_line();

  std::ostream& out_;
  const ProgressOptions options_;
  const SecondsNow now_;
  const int runs_;

  int run_ = 0, whole_runs_ = 0;  // the run under way, from 1; runs that ended without diverging
  double whole_seconds_ = 0;      // that these took together
  double began_ = 0;              // when the run under way did
  double done_ = 0;               // share of the run under way
  train::RunStart start_;
  double last_shown_ = 0;
  bool line_open_ = false;
};

}  // namespace lockstep::report
