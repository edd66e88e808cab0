#include "report/terminal_curve.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "report/axis.h"
#include "report/braille_canvas.h"

namespace lockstep::report {
namespace {

constexpr int kLinesPerStep = 2;
constexpr int kPlotLines = kValueSteps * kLinesPerStep;
constexpr int kLeftMargin = 6;   // " 0.8 ┤"
constexpr int kRightMargin = 5;  // "├ 2.5"
constexpr int kFullLegendWidth = 52;
constexpr int kDotStride = 3;                  // of the dotted line
static_assert(kCurveLines == kPlotLines + 3);  // legend, axis, epochs

constexpr std::string_view kAccuracyColor = "\x1b[36m", kLossColor = "\x1b[33m", kDim = "\x1b[2m",
                           kPlain = "\x1b[0m";

class Picture {
 public:
  Picture(std::span<const train::EpochReport> epochs, const CurveOptions& options)
      : epochs_(epochs),
        options_(options),
        columns_(options.width - kLeftMargin - kRightMargin),
        loss_top_(loss_axis_top(epochs)),
        accuracy_(columns_, kPlotLines),
        loss_(columns_, kPlotLines) {
    const auto accuracy = path_of([](const train::EpochReport& e) { return e.test_accuracy(); });
    const auto loss = path_of([&](const train::EpochReport& e) { return e.train_loss / loss_top_; });
    for (const Dot dot : accuracy) accuracy_.set(dot);
    if (!accuracy.empty()) set_head(accuracy.back());
    for (std::size_t i = 0; i < loss.size(); i += kDotStride) loss_.set(loss[i]);
  }

  std::string legend() const {
    const bool wide = options_.width >= kFullLegendWidth;
    const double nan = std::nan("");
    const double accuracy = epochs_.empty() ? nan : epochs_.back().test_accuracy();
    const double loss = epochs_.empty() ? nan : epochs_.back().train_loss;
    return fmt::format("{}{} test acc{}{}{} {}{}\n", wide ? "      " : " ",
                       painted(wide ? "⠒⠒⠒" : "⠒", kAccuracyColor), figure(accuracy), wide ? "    " : " ",
                       painted(wide ? "⠂⠐⠠" : "⠂", kLossColor), wide ? "train loss" : "loss", figure(loss));
  }

  std::string plot_line(int line) const {
    const bool labelled = line % kLinesPerStep == 0;
    const int step = kValueSteps - line / kLinesPerStep;
    std::string text =
        labelled ? painted(fmt::format(" {} ┤", value_label(1, step)), kDim) : painted("     │", kDim);
    for (int column = 0; column < columns_; ++column) text += plot_cell(column, line);
    if (!labelled) return text + painted("│", kDim) + "\n";
    return text + painted("├" + loss_label(step), kDim) + "\n";
  }

  std::string axis_line() const {
    std::vector<bool> ticks(static_cast<std::size_t>(columns_));
    for (const int epoch : labelled_epochs()) ticks[static_cast<std::size_t>(column_of(epoch))] = true;
    std::string text = " 0.0 ┼";
    for (const bool tick : ticks) text += tick ? "┬" : "─";
    return painted(text + "┼" + loss_label(0), kDim) + "\n";
  }

  std::string epoch_line() const {
    std::string text = fmt::format("{:{}}", "epoch", options_.width);
    for (const int epoch : labelled_epochs()) {
      const std::string label = std::to_string(epoch);
      const int left = kLeftMargin + column_of(epoch) - static_cast<int>(label.size()) / 2;  // centred
      text.replace(static_cast<std::size_t>(left), label.size(), label);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return painted(text, kDim) + "\n";
  }

 private:
  static std::string figure(double value) {
    return std::isfinite(value) ? fmt::format(" {:.3f}", value) : "";
  }

  // The dots of one curve from left to right; a value that is not finite leaves a gap.
  template <class Share>
  std::vector<Dot> path_of(Share share_of) const {
    constexpr int kHeight = kPlotLines * BrailleCanvas::kDotsDown;
    std::vector<Dot> path;
    bool connected = false;
    for (const train::EpochReport& epoch : epochs_) {
      const double share = share_of(epoch);
      const bool drawable = std::isfinite(share);
      if (drawable) {
        const int y = static_cast<int>(std::lround((1 - std::clamp(share, 0.0, 1.0)) * kHeight));
        const Dot dot{dot_column_of(epoch.epoch), std::min(y, kHeight - 1)};
        const std::vector<Dot> way = connected ? dots_between(path.back(), dot) : std::vector<Dot>{dot};
        path.insert(path.end(), way.begin(), way.end());
      }
      connected = drawable;
    }
    return path;
  }

  // The newest point is larger, so that the first one is seen and the eye finds the last.
  void set_head(Dot head) {
    const Dot cell{head.x / BrailleCanvas::kDotsAcross * BrailleCanvas::kDotsAcross,
                   head.y / BrailleCanvas::kDotsDown * BrailleCanvas::kDotsDown};
    const int top = std::min(head.y, cell.y + BrailleCanvas::kDotsDown - 2);  // all of it inside one cell
    for (const int across : {0, 1}) {
      for (const int down : {0, 1}) accuracy_.set({cell.x + across, top + down});
    }
  }

  std::string plot_cell(int column, int line) const {
    if (!accuracy_.empty(column, line)) return painted(accuracy_.cell(column, line), kAccuracyColor);
    if (!loss_.empty(column, line)) return painted(loss_.cell(column, line), kLossColor);
    return " ";
  }

  // A loss axis without a loss would be a guess.
  std::string loss_label(int step) const { return epochs_.empty() ? "" : " " + value_label(loss_top_, step); }

  std::vector<int> labelled_epochs() const {
    const int label_width = static_cast<int>(std::to_string(options_.epochs).size()) + 1;
    return epoch_ticks(options_.epochs, columns_ / label_width);
  }

  int dot_column_of(int epoch) const {
    const int last = columns_ * BrailleCanvas::kDotsAcross - 1;
    if (options_.epochs == 1) return last / 2;
    return static_cast<int>(std::lround(static_cast<double>(last) * (epoch - 1) / (options_.epochs - 1)));
  }
  int column_of(int epoch) const { return dot_column_of(epoch) / BrailleCanvas::kDotsAcross; }

  std::string painted(std::string_view text, std::string_view color) const {
    return options_.color ? fmt::format("{}{}{}", color, text, kPlain) : std::string(text);
  }

  std::span<const train::EpochReport> epochs_;
  CurveOptions options_;
  int columns_;
  double loss_top_;
  BrailleCanvas accuracy_, loss_;
};

}  // namespace

std::string draw_curve(std::span<const train::EpochReport> epochs, const CurveOptions& options) {
  const Picture picture(epochs, options);
  std::string text = picture.legend();
  for (int line = 0; line < kPlotLines; ++line) text += picture.plot_line(line);
  return text + picture.axis_line() + picture.epoch_line();
}

}  // namespace lockstep::report
