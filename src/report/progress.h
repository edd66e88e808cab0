// Live progress for a person. On a terminal one line that is rewritten at most ten times a second and, above
// it, the curve that grows with every epoch, with the numbers of the last epochs beside it; epochs that have
// no place there move up as lines above the curve, so that the numbers of every epoch stay. Elsewhere plain
// lines, one per epoch and one every ten seconds between.
#pragma once
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "report/progress_line.h"
#include "train/observer.h"

namespace lockstep::report {

struct ProgressOptions {
  bool terminal = false;
  bool color = false;
  int width = 80, height = 24;  // of the terminal, in characters
};

class Progress final : public train::Observer {
 public:
  using SecondsNow = std::function<double()>;  // since any fixed moment, never going back

  // Requires: `out` outlives this.
  Progress(std::ostream& out, const ProgressOptions& options, SecondsNow now);
  ~Progress() override;  // leaves the cursor at the start of a line, even when training threw
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void on_start(const train::RunStart& start) override;
  void on_step(const train::StepReport& step) override;
  void on_epoch(const train::EpochReport& epoch) override;
  void on_warning(const std::string& line) override;
  void on_end(const train::RunEnd& end) override;

 private:
  // What the steps of the epoch under way add up to.
  struct Epoch {
    int number = 0;
    std::int64_t steps = 0, examples = 0;
    double loss_sum = 0, seconds = 0;
  };

  bool shows_curve() const;
  ProgressFigures figures(const train::StepReport& step) const;
  std::string epoch_line(const train::EpochReport& epoch) const;
  bool shows_table() const;
  int curve_width() const;
  std::string picture() const;
  void write_lines(std::string_view lines);
  void write_above_curve(std::string_view lines);
  void draw_curve_in_place();
  void rewrite_line();
  void clear_line();

  std::ostream& out_;
  const ProgressOptions options_;
  const SecondsNow now_;

  train::RunStart start_;
  std::vector<train::EpochReport> epochs_;
  Epoch epoch_;
  std::optional<ProgressFigures> shown_;  // the open line's
  double last_shown_ = 0;                 // when
  bool line_open_ = false;
  bool curve_drawn_ = false;
};

}  // namespace lockstep::report
