#include "report/curve_svg.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "report/axis.h"
#include "report/written.h"

namespace lockstep::report {
namespace {

constexpr int kWidth = 720, kHeight = 440;
constexpr int kLeft = 76, kRight = 644, kTop = 84, kBottom = 372;  // of the plot
constexpr int kInset = 14;      // between the axes and the first and last epoch
constexpr int kMostTicks = 20;  // labels of two digits that fit side by side
constexpr int kMostMarks = 50;  // with more epochs the marks would run together
constexpr std::string_view kAccuracyColor = "#1f6fb4", kLossColor = "#c8630a";

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

double x_of(int epoch, int epochs) {
  constexpr double kFirst = kLeft + kInset, kLast = kRight - kInset;
  return epochs == 1 ? (kFirst + kLast) / 2 : kFirst + (kLast - kFirst) * (epoch - 1) / (epochs - 1);
}

double y_of(double share) { return kBottom - (kBottom - kTop) * std::clamp(share, 0.0, 1.0); }

std::string frame(const std::string& title) {
  return fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}" width="{w}" height="{h}" role="img" font-family="Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif" font-size="13">
<title>{title}</title>
<rect width="{w}" height="{h}" fill="#ffffff"/>
<text x="{left}" y="34" font-size="17" font-weight="bold" fill="#1a1a1a">{title}</text>
)",
      fmt::arg("w", kWidth), fmt::arg("h", kHeight), fmt::arg("left", kLeft),
      fmt::arg("title", escaped(title)));
}

std::string legend() {
  return fmt::format(
      R"(<g stroke-width="2.2" fill="#333333">
<line x1="{a}" y1="57" x2="{b}" y2="57" stroke="{accuracy}"/><text x="{c}" y="61.5">test accuracy</text>
<line x1="{d}" y1="57" x2="{e}" y2="57" stroke="{loss}" stroke-dasharray="6 4"/><text x="{f}" y="61.5">train loss</text>
</g>
)",
      fmt::arg("a", kLeft), fmt::arg("b", kLeft + 28), fmt::arg("c", kLeft + 36), fmt::arg("d", kLeft + 152),
      fmt::arg("e", kLeft + 180), fmt::arg("f", kLeft + 188), fmt::arg("accuracy", kAccuracyColor),
      fmt::arg("loss", kLossColor));
}

std::string value_axes(double loss_top) {
  std::string text;
  for (int step = 0; step <= kValueSteps; ++step) {
    const double y = y_of(static_cast<double>(step) / kValueSteps);
    text += fmt::format(
        R"(<line x1="{}" y1="{:.1f}" x2="{}" y2="{:.1f}" stroke="{}"/>
<text x="{}" y="{:.1f}" text-anchor="end" fill="{}">{}</text>
<text x="{}" y="{:.1f}" fill="{}">{}</text>
)",
        kLeft, y, kRight, y, step == 0 ? "#555555" : "#e4e4e4", kLeft - 9, y + 4.5, kAccuracyColor,
        value_label(1, step), kRight + 9, y + 4.5, kLossColor, value_label(loss_top, step));
  }
  const auto name = [](int x, int turn, std::string_view color, std::string_view words) {
    return fmt::format(
        "<text transform=\"translate({} {}) rotate({})\" text-anchor=\"middle\" fill=\"{}\">{}</text>\n", x,
        (kTop + kBottom) / 2, turn, color, words);
  };
  return text + name(30, -90, kAccuracyColor, "test accuracy") +
         name(kWidth - 24, 90, kLossColor, "train loss");
}

std::string epoch_axis(int epochs) {
  std::string text;
  for (const int epoch : epoch_ticks(epochs, kMostTicks)) {
    const double x = x_of(epoch, epochs);
    text += fmt::format(
        R"(<line x1="{:.1f}" y1="{}" x2="{:.1f}" y2="{}" stroke="#555555"/><text x="{:.1f}" y="{}" text-anchor="middle" fill="#333333">{}</text>
)",
        x, kBottom, x, kBottom + 5, x, kBottom + 21, epoch);
  }
  return text + fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" fill=\"#333333\">epoch</text>\n",
                            (kLeft + kRight) / 2, kBottom + 46);
}

struct Style {
  std::string_view color, dashes;
};

// One curve; a value that is not finite breaks it in two.
template <class Share>
std::string curve(std::span<const train::EpochReport> epochs, int last_epoch, const Style& style,
                  Share share_of) {
  std::string path, marks;
  bool connected = false;
  for (const train::EpochReport& epoch : epochs) {
    const double share = share_of(epoch);
    if (std::isfinite(share)) {
      const double x = x_of(epoch.epoch, last_epoch), y = y_of(share);
      path += fmt::format("{}{:.1f} {:.1f}", connected ? " L" : path.empty() ? "M" : " M", x, y);
      marks += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.2\"/>", x, y);
    }
    connected = std::isfinite(share);
  }
  if (path.empty()) return "";
  const std::string dashes =
      style.dashes.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", style.dashes);
  std::string text = fmt::format(
      "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2.2\" stroke-linejoin=\"round\"{}/>\n", path,
      style.color, dashes);
  if (last_epoch <= kMostMarks) text += fmt::format("<g fill=\"{}\">{}</g>\n", style.color, marks);
  return text;
}

}  // namespace

std::string draw_svg(std::span<const train::EpochReport> epochs, const SvgOptions& options) {
  const double loss_top = loss_axis_top(epochs);
  return frame(options.title) + legend() + value_axes(loss_top) + epoch_axis(options.epochs) +
         curve(epochs, options.epochs, {kLossColor, "6 4"},
               [loss_top](const train::EpochReport& e) { return e.train_loss / loss_top; }) +
         curve(epochs, options.epochs, {kAccuracyColor, ""},
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
