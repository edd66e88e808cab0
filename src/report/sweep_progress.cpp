#include "report/sweep_progress.h"

#include <utility>

#include <fmt/format.h>

#include "report/figures.h"
#include "report/shell_word.h"

namespace lockstep::report {
namespace {

constexpr double kSecondsBetweenRewrites = 0.1;
constexpr double kSecondsBetweenPlainLines = 10;
constexpr int kPlainWidth = 120;

constexpr const char* kClearLine = "\r\x1b[K";

}  // namespace

SweepProgress::SweepProgress(std::ostream& out, const ProgressOptions& options, SecondsNow now, int runs)
    : out_(out), options_(options), now_(std::move(now)), runs_(runs), last_shown_(now_()) {}

SweepProgress::~SweepProgress() {
  if (line_open_) out_ << '\n' << std::flush;
}

void SweepProgress::begin_run() {
  ++run_;
  began_ = now_();
  done_ = 0;
}

void SweepProgress::end_run(const SweepRow& row, std::string_view why) {
  if (!row.diverged) {
    ++whole_runs_;
    whole_seconds_ += now_() - began_;
  }
  done_ = 1;
  clear_line();
  std::string text = number() + row.run;
  text += row.diverged
              ? fmt::format("  diverged: {}", why)
              : fmt::format("  test acc {:.4f}  {:.2f} s/epoch", row.accuracy, row.seconds_per_epoch);
  if (const std::optional<double> left = seconds_left(); left && run_ < runs_)
    text += fmt::format("  {} left", clock_time(*left));
  out_ << text << '\n' << std::flush;
  last_shown_ = now_();
}

void SweepProgress::interrupt_run(const std::string& directory) {
  clear_line();
  out_ << fmt::format("interrupted in run {} of {}; go on with it: ./lockstep train --resume {}\n", run_,
                      runs_, shell_word(directory))
       << std::flush;
}

void SweepProgress::on_start(const train::RunStart& start) { start_ = start; }

void SweepProgress::on_step(const train::StepReport& step) {
  const std::int64_t all = start_.epochs * start_.steps_per_epoch;
  done_ = static_cast<double>(step.global_step) / static_cast<double>(all);
  const double now = now_();
  const double pause = options_.terminal ? kSecondsBetweenRewrites : kSecondsBetweenPlainLines;
  if (now - last_shown_ < pause && (line_open_ || !options_.terminal)) return;
  last_shown_ = now;
  const ProgressFigures figures{.epoch = step.epoch,
                                .epochs = start_.epochs,
                                .step = step.step,
                                .steps_per_epoch = start_.steps_per_epoch,
                                .loss = step.loss,
                                .seconds_left = seconds_left()};
  const int width =
      (options_.terminal ? options_.width - 1 : kPlainWidth) - static_cast<int>(number().size());
  const std::string line = number() + progress_line(figures, width);
  if (options_.terminal) {
    out_ << kClearLine << line << std::flush;
    line_open_ = true;
  } else {
    out_ << line << '\n' << std::flush;
  }
}

void SweepProgress::on_warning(const std::string& line) {
  clear_line();
  out_ << number() << "warning: " << line << '\n' << std::flush;
}

std::string SweepProgress::number() const { return fmt::format("run {} of {}  ", run_, runs_); }

// Runs that have ended whole tell how long one takes; until there is one, the run under way does.
std::optional<double> SweepProgress::seconds_left() const {
  const double here = now_() - began_;
  const std::optional<double> this_run = done_ > 0 && done_ < 1 ? std::optional(here / done_) : std::nullopt;
  const std::optional<double> a_run =
      whole_runs_ > 0 ? std::optional(whole_seconds_ / whole_runs_) : this_run;
  if (!a_run) return std::nullopt;
  const double left_of_this = done_ < 1 ? this_run.value_or(*a_run) * (1 - done_) : 0;
  return left_of_this + *a_run * (runs_ - run_);
}

void SweepProgress::clear_line() {
  if (line_open_) out_ << kClearLine << std::flush;
  line_open_ = false;
}

}  // namespace lockstep::report
