#include "report/progress.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "report/columns.h"
#include "report/device_use.h"
#include "report/epoch_table.h"
#include "report/figures.h"
#include "report/terminal_curve.h"

namespace lockstep::report {
namespace {

constexpr double kSecondsBetweenRewrites = 0.1;
constexpr double kSecondsBetweenPlainLines = 10;
constexpr int kPlainWidth = 120;
constexpr int kTableGap = 3;           // columns between curve and table
constexpr int kCurveBesideTable = 40;  // a curve that would be narrower than this stands alone
constexpr std::size_t kTableEpochs = kCurveLines - 1;  // the table has a heading

constexpr const char *kClearRest = "\x1b[K", *kWarningColor = "\x1b[33m", *kPlain = "\x1b[0m";

}  // namespace

Progress::Progress(std::ostream& out, const ProgressOptions& options, SecondsNow now)
    : out_(out), options_(options), now_(std::move(now)) {}

Progress::~Progress() {
  if (line_open_) out_ << '\n' << std::flush;
}

void Progress::on_start(const train::RunStart& start) {
  start_ = start;
  last_shown_ = now_();
  out_ << shares_line(start) << std::flush;
  if (shows_curve()) draw_curve_in_place();
}

void Progress::on_step(const train::StepReport& step) {
  if (step.epoch != epoch_.number) epoch_ = {.number = step.epoch};
  ++epoch_.steps;
  epoch_.examples += step.examples;
  epoch_.loss_sum += static_cast<double>(step.loss) * static_cast<double>(step.examples);
  epoch_.seconds += step.seconds;

  const double now = now_();
  if (!options_.terminal) {
    if (now - last_shown_ < kSecondsBetweenPlainLines) return;
    out_ << progress_line(figures(step), kPlainWidth) << '\n' << std::flush;
  } else {
    const bool worth_it = !line_open_ || step.step == start_.steps_per_epoch;
    if (!worth_it && now - last_shown_ < kSecondsBetweenRewrites) return;
    shown_ = figures(step);
    rewrite_line();
  }
  last_shown_ = now;
}

void Progress::on_epoch(const train::EpochReport& epoch) {
  epochs_.push_back(epoch);
  last_shown_ = now_();
  if (!options_.terminal) {
    out_ << epoch_line(epoch) << '\n' << std::flush;
  } else if (shows_curve()) {
    const std::size_t room = shows_table() ? kTableEpochs : 0;
    if (epochs_.size() > room)
      write_above_curve(epoch_line(epochs_[epochs_.size() - room - 1]) + '\n');
    else
      draw_curve_in_place();
    if (shown_) shown_->test_accuracy = epoch.test_accuracy();
    rewrite_line();
  } else {
    clear_line();
    out_ << epoch_line(epoch) << '\n' << std::flush;
  }
}

void Progress::on_warning(const std::string& line) {
  const std::string text = "warning: " + line;
  if (!options_.terminal) {
    out_ << text << '\n' << std::flush;
    return;
  }
  std::string lines = wrapped(text, options_.width - 1);
  if (options_.color) lines = kWarningColor + lines + kPlain;
  if (curve_drawn_) {
    write_above_curve(lines + '\n');
    rewrite_line();
  } else {
    clear_line();
    write_lines(lines + '\n');
  }
}

void Progress::on_end(const train::RunEnd&) { clear_line(); }

bool Progress::shows_curve() const {
  return options_.terminal && start_.epochs > 1 && options_.width > kCurveMinWidth &&
         options_.height >= kCurveLines + 2;  // the progress line, and the prompt's
}

ProgressFigures Progress::figures(const train::StepReport& step) const {
  ProgressFigures figures{
      .epoch = step.epoch,
      .epochs = start_.epochs,
      .step = step.step,
      .steps_per_epoch = start_.steps_per_epoch,
      .loss = epoch_.loss_sum / static_cast<double>(std::max<std::int64_t>(epoch_.examples, 1))};
  if (epoch_.seconds > 0) {
    const auto steps_left = (start_.epochs - step.epoch + 1) * start_.steps_per_epoch - step.step;
    const int evaluations_left = start_.epochs - step.epoch + 1;
    const double evaluation_seconds = epochs_.empty() ? 0 : epochs_.back().evaluation_seconds;
    figures.examples_per_second = static_cast<double>(epoch_.examples) / epoch_.seconds;
    figures.seconds_left =
        static_cast<double>(steps_left) * epoch_.seconds / static_cast<double>(epoch_.steps) +
        evaluations_left * evaluation_seconds;
  }
  if (!epochs_.empty()) figures.test_accuracy = epochs_.back().test_accuracy();
  return figures;
}

std::string Progress::epoch_line(const train::EpochReport& epoch) const {
  const double rate = static_cast<double>(start_.examples_per_epoch) / std::max(epoch.seconds, 1e-9);
  return fmt::format("epoch {}/{}  loss {:.3f}  test acc {:.3f}  {:.1f} s  {} examples/s", epoch.epoch,
                     start_.epochs, epoch.train_loss, epoch.test_accuracy(), epoch.seconds,
                     grouped(std::llround(rate)));
}

bool Progress::shows_table() const { return curve_width() < options_.width - 1; }

// One column stays free, or some terminals would wrap.
int Progress::curve_width() const {
  const int all = options_.width - 1;
  const int beside_table = all - kTableGap - epoch_table_width(start_.epochs);
  return beside_table >= kCurveBesideTable ? beside_table : all;
}

std::string Progress::picture() const {
  const CurveOptions options{.epochs = start_.epochs, .width = curve_width(), .color = options_.color};
  std::string curve = draw_curve(epochs_, options);
  if (!shows_table()) return curve;
  const std::span last = std::span(epochs_).last(std::min<std::size_t>(epochs_.size(), kTableEpochs));
  return side_by_side(curve, options.width + kTableGap, epoch_table(last, start_.epochs));
}

// What stood in these lines before is gone.
void Progress::write_lines(std::string_view lines) {
  for (const char c : lines) {
    if (c == '\n') out_ << kClearRest;
    out_ << c;
  }
  out_ << std::flush;
}

// The curve moves down.
void Progress::write_above_curve(std::string_view lines) {
  out_ << fmt::format("\r\x1b[{}A", kCurveLines);
  write_lines(lines);
  curve_drawn_ = false;
  draw_curve_in_place();
}

void Progress::draw_curve_in_place() {
  // the cursor stands in the line below the curve, if there is one
  out_ << '\r';
  if (curve_drawn_) out_ << fmt::format("\x1b[{}A", kCurveLines);
  write_lines(picture());
  curve_drawn_ = true;
}

void Progress::rewrite_line() {
  if (!shown_) return;
  out_ << '\r' << progress_line(*shown_, options_.width - 1) << kClearRest << std::flush;
  line_open_ = true;
}

void Progress::clear_line() {
  if (line_open_) out_ << '\r' << kClearRest << std::flush;
  line_open_ = false;
}

}  // namespace lockstep::report
