#include "report/sweep_svg.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "report/axis.h"
#include "report/ratio_axis.h"
#include "report/svg.h"
#include "report/sweep_lines.h"

namespace lockstep::report {
namespace {

constexpr int kWidth = 980;
constexpr SvgPlot kAccuracyPlot{.left = 76, .right = 466, .top = 92, .bottom = 352};
constexpr SvgPlot kTimePlot{.left = 566, .right = 956, .top = 92, .bottom = 352};
constexpr int kLegendTop = kAccuracyPlot.bottom + 78, kLegendLine = 20;
constexpr double kCrossPitch = 11;
constexpr int kSample = 36;             // width of a legend's piece of line, with its gap
constexpr double kLetterWidth = 7.8;    // upper estimate of the mean at 13 pixels
constexpr double kLeastSeconds = 0.01;  // top of the time axis when every epoch is quicker

constexpr std::array<std::string_view, 8> kColors{"#1f6fb4", "#c8630a", "#2a8a3e", "#b3306b",
                                                  "#6a4fb3", "#8a6d1a", "#1795a3", "#555555"};
constexpr std::array<std::string_view, 3> kDashes{"", "7 4", "2 3"};

// Colors first; dashes tell lines apart once the colors are used up.
SvgStyle style_of(std::size_t line) {
  return {.color = kColors[line % kColors.size()], .dashes = kDashes[line / kColors.size() % kDashes.size()]};
}

std::string cross(double x, double y, std::string_view color) {
  return fmt::format(
      "<path d=\"M{:.1f} {:.1f} l9 9 m0 -9 l-9 9\" fill=\"none\" stroke=\"{}\" stroke-width=\"2.2\"/>\n",
      x - 4.5, y - 4.5, color);
}

struct Panel {
  SvgPlot plot;
  std::string_view title, bottom_name, value_name;
  double top;  // of the value axis
  std::vector<SweepLine> lines;
};

bool any_diverged(const Panel& panel) {
  return std::ranges::any_of(panel.lines, [](const SweepLine& line) {
    return std::ranges::any_of(line.points, [](const SweepPoint& point) { return !std::isfinite(point.y); });
  });
}

std::string value_axis(const Panel& panel) {
  std::string text =
      fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"14\" font-weight=\"bold\" fill=\"{}\">{}</text>\n",
                  panel.plot.left, panel.plot.top - 20, kSvgTextColor, panel.title);
  for (int step = 0; step <= kValueSteps; ++step) {
    text += svg_value_line(panel.plot, step) +
            svg_left_label(panel.plot, step, kSvgTextColor, value_label(panel.top, step));
  }
  return text + svg_value_name(panel.plot, panel.plot.left - 60, -90, kSvgTextColor, panel.value_name);
}

std::string curves(const Panel& panel, const RatioAxis& axis) {
  std::string text;
  for (std::size_t i = 0; i < panel.lines.size(); ++i) {
    std::vector<SvgPoint> points;
    for (const SweepPoint& point : panel.lines[i].points) {
      points.push_back({.x = axis.x_of(point.x),
                        .y = std::isfinite(point.y) ? panel.plot.y_of(point.y / panel.top) : point.y});
    }
    text += svg_curve(points, style_of(i), SvgMarks::dots);
  }
  return text;
}

// Lines that diverged at the same place stand side by side there.
std::string crosses(const Panel& panel, const RatioAxis& axis) {
  std::map<double, std::vector<std::size_t>> diverged;
  for (std::size_t i = 0; i < panel.lines.size(); ++i) {
    for (const SweepPoint& point : panel.lines[i].points) {
      if (!std::isfinite(point.y)) diverged[point.x].push_back(i);
    }
  }
  std::string text;
  for (const auto& [value, lines] : diverged) {
    double x = axis.x_of(value) - kCrossPitch * static_cast<double>(lines.size() - 1) / 2;
    for (const std::size_t line : lines) {
      text += cross(x, panel.plot.bottom, style_of(line).color);
      x += kCrossPitch;
    }
  }
  return text;
}

std::vector<std::string> legend_labels(const Panel& panel) {
  std::vector<std::string> labels;
  labels.reserve(panel.lines.size() + 1);
  for (const SweepLine& line : panel.lines) labels.push_back(line.label);
  if (any_diverged(panel)) labels.emplace_back("diverged");
  return labels;
}

int legend_columns(const Panel& panel) {
  double widest = 1;
  for (const std::string& label : legend_labels(panel)) {
    widest = std::max(widest, kSample + kLetterWidth * static_cast<double>(label.size()));
  }
  return std::max(1, static_cast<int>((panel.plot.right - panel.plot.left) / widest));
}

int legend_height(const Panel& panel) {
  const int columns = legend_columns(panel), entries = static_cast<int>(legend_labels(panel).size());
  return (entries + columns - 1) / columns * kLegendLine;
}

std::string legend(const Panel& panel) {
  const int columns = legend_columns(panel), width = (panel.plot.right - panel.plot.left) / columns;
  const std::vector<std::string> labels = legend_labels(panel);
  std::string text;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const int line = static_cast<int>(i) / columns, column = static_cast<int>(i) % columns;
    const double x = panel.plot.left + column * width, y = kLegendTop + line * kLegendLine;
    const std::vector<SvgPoint> sample{{.x = x, .y = y}, {.x = x + 28, .y = y}};
    text += i < panel.lines.size() ? svg_curve(sample, style_of(i), SvgMarks::none)
                                   : cross(x + 14, y, kSvgTextColor);
    text += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" fill=\"{}\">{}</text>\n", x + kSample, y + 4.5,
                        kSvgTextColor, labels[i]);
  }
  return text;
}

std::string draw(const Panel& panel) {
  std::vector<double> values;
  for (const SweepLine& line : panel.lines) {
    for (const SweepPoint& point : line.points) values.push_back(point.x);
  }
  const RatioAxis axis(panel.plot, values);
  return value_axis(panel) + axis.draw(std::string(panel.bottom_name)) + curves(panel, axis) +
         crosses(panel, axis) + legend(panel);
}

double slowest(std::span<const SweepLine> lines) {
  double seconds = 0;
  for (const SweepLine& line : lines) {
    for (const SweepPoint& point : line.points) seconds = std::max(seconds, point.y);
  }
  return seconds;
}

}  // namespace

std::string sweep_svg(std::span<const SweepRow> rows) {
  const Panel accuracy{
      kAccuracyPlot,       "Test accuracy by learning rate", "learning rate", "test accuracy", 1,
      accuracy_lines(rows)};
  Panel time{kTimePlot, "Time by number of devices", "devices", "seconds per epoch", 1, time_lines(rows)};
  if (!time.lines.empty()) time.top = value_axis_top(slowest(time.lines), kLeastSeconds);
  const int height = kLegendTop + std::max(legend_height(accuracy), legend_height(time)) + 4;
  return svg_begin({.width = kWidth,
                    .height = height,
                    .left = kAccuracyPlot.left,
                    .title = "Learning rate and number of devices"}) +
         draw(accuracy) + draw(time) + "</svg>\n";
}

}  // namespace lockstep::report
