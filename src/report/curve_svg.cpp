#include "report/curve_svg.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "report/axis.h"
#include "report/svg.h"
#include "report/written.h"

namespace lockstep::report {
namespace {

constexpr int kWidth = 720, kHeight = 440;
constexpr SvgPlot kPlot{.left = 76, .right = 644, .top = 84, .bottom = 372};
constexpr int kInset = 14;      // between the axes and the first and last epoch
constexpr int kMostTicks = 20;  // labels of two digits that fit side by side
constexpr int kMostMarks = 50;  // with more epochs the marks would run together
constexpr SvgStyle kAccuracy{.color = "#1f6fb4", .dashes = ""}, kLoss{.color = "#c8630a", .dashes = "6 4"};

double x_of(int epoch, int epochs) {
  constexpr double kFirst = kPlot.left + kInset, kLast = kPlot.right - kInset;
  return epochs == 1 ? (kFirst + kLast) / 2 : kFirst + (kLast - kFirst) * (epoch - 1) / (epochs - 1);
}

std::string legend() {
  constexpr int kLeft = kPlot.left;
  return fmt::format(
      R"(<g stroke-width="2.2" fill="{text}">
<line x1="{a}" y1="57" x2="{b}" y2="57" stroke="{accuracy}"/><text x="{c}" y="61.5">test accuracy</text>
<line x1="{d}" y1="57" x2="{e}" y2="57" stroke="{loss}" stroke-dasharray="{dashes}"/><text x="{f}" y="61.5">train loss</text>
</g>
)",
      fmt::arg("a", kLeft), fmt::arg("b", kLeft + 28), fmt::arg("c", kLeft + 36), fmt::arg("d", kLeft + 152),
      fmt::arg("e", kLeft + 180), fmt::arg("f", kLeft + 188), fmt::arg("accuracy", kAccuracy.color),
      fmt::arg("loss", kLoss.color), fmt::arg("dashes", kLoss.dashes), fmt::arg("text", kSvgTextColor));
}

std::string value_axes(double loss_top) {
  std::string text;
  for (int step = 0; step <= kValueSteps; ++step) {
    const double y = kPlot.y_of(static_cast<double>(step) / kValueSteps);
    text += svg_value_line(kPlot, step) + svg_left_label(kPlot, step, kAccuracy.color, value_label(1, step)) +
            fmt::format("<text x=\"{}\" y=\"{:.1f}\" fill=\"{}\">{}</text>\n", kPlot.right + 9, y + 4.5,
                        kLoss.color, value_label(loss_top, step));
  }
  return text + svg_value_name(kPlot, 30, -90, kAccuracy.color, "test accuracy") +
         svg_value_name(kPlot, kWidth - 24, 90, kLoss.color, "train loss");
}

std::string epoch_axis(int epochs) {
  std::string text;
  for (const int epoch : epoch_ticks(epochs, kMostTicks)) {
    text += svg_labeled_tick(kPlot, x_of(epoch, epochs), fmt::format("{}", epoch));
  }
  return text + svg_bottom_name(kPlot, "epoch");
}

template <class Share>
std::string curve(std::span<const train::EpochReport> epochs, int last_epoch, const SvgStyle& style,
                  Share share_of) {
  std::vector<SvgPoint> points;
  for (const train::EpochReport& epoch : epochs) {
    const double share = share_of(epoch);
    points.push_back(
        {.x = x_of(epoch.epoch, last_epoch), .y = std::isfinite(share) ? kPlot.y_of(share) : share});
  }
  return svg_curve(points, style, last_epoch <= kMostMarks ? SvgMarks::dots : SvgMarks::none);
}

}  // namespace

std::string draw_svg(std::span<const train::EpochReport> epochs, const SvgOptions& options) {
  const double loss_top = loss_axis_top(epochs);
  return svg_begin({.width = kWidth, .height = kHeight, .left = kPlot.left, .title = options.title}) +
         legend() + value_axes(loss_top) + epoch_axis(options.epochs) +
         curve(epochs, options.epochs, kLoss,
               [loss_top](const train::EpochReport& e) { return e.train_loss / loss_top; }) +
         curve(epochs, options.epochs, kAccuracy,
               [](const train::EpochReport& e) { return e.test_accuracy(); }) +
         "</svg>\n";
}

CurveSvg::CurveSvg(std::ostream& out, std::string path) : out_(out), path_(std::move(path)) {}

void CurveSvg::on_start(const train::RunStart& start) {
  options_ = {.title = start.model, .epochs = std::max(start.epochs, 1)};
}

void CurveSvg::on_end(const train::RunEnd& end) {
  if (!end.epochs.empty()) {
    options_.title += fmt::format(": test accuracy {:.3f} after {} {}", end.epochs.back().test_accuracy(),
                                  end.epochs.back().epoch, end.epochs.back().epoch == 1 ? "epoch" : "epochs");
    options_.epochs = std::max(options_.epochs, end.epochs.back().epoch);
  }
  out_ << draw_svg(end.epochs, options_) << std::flush;
  require_written(out_, path_);
}

}  // namespace lockstep::report
