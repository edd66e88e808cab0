#include "report/svg.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "report/axis.h"

namespace lockstep::report {
namespace {

double share_of(int step) { return static_cast<double>(step) / kValueSteps; }

}  // namespace

std::string svg_begin(const SvgFrame& frame) {
  return fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}" width="{w}" height="{h}" role="img" font-family="Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif" font-size="13">
<title>{title}</title>
<rect width="{w}" height="{h}" fill="#ffffff"/>
<text x="{left}" y="34" font-size="17" font-weight="bold" fill="#1a1a1a">{title}</text>
)",
      fmt::arg("w", frame.width), fmt::arg("h", frame.height), fmt::arg("left", frame.left),
      fmt::arg("title", svg_escaped(frame.title)));
}

std::string svg_escaped(std::string_view text) {
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

double SvgPlot::y_of(double share) const { return bottom - (bottom - top) * std::clamp(share, 0.0, 1.0); }

std::string svg_value_line(const SvgPlot& plot, int step) {
  const double y = plot.y_of(share_of(step));
  return fmt::format("<line x1=\"{}\" y1=\"{:.1f}\" x2=\"{}\" y2=\"{:.1f}\" stroke=\"{}\"/>\n", plot.left, y,
                     plot.right, y, step == 0 ? "#555555" : "#e4e4e4");
}

std::string svg_left_label(const SvgPlot& plot, int step, std::string_view color, std::string_view label) {
  return fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\" fill=\"{}\">{}</text>\n", plot.left - 9,
                     plot.y_of(share_of(step)) + 4.5, color, label);
}

std::string svg_value_name(const SvgPlot& plot, int x, int turn, std::string_view color,
                           std::string_view name) {
  return fmt::format(
      "<text transform=\"translate({} {}) rotate({})\" text-anchor=\"middle\" fill=\"{}\">{}</text>\n", x,
      plot.center_y(), turn, color, name);
}

std::string svg_tick(const SvgPlot& plot, double x) {
  return fmt::format(R"(<line x1="{:.1f}" y1="{}" x2="{:.1f}" y2="{}" stroke="#555555"/>)", x, plot.bottom, x,
                     plot.bottom + 5);
}

std::string svg_labeled_tick(const SvgPlot& plot, double x, std::string_view label) {
  return svg_tick(plot, x) +
         fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\" fill=\"{}\">{}</text>\n", x,
                     plot.bottom + 21, kSvgTextColor, label);
}

std::string svg_bottom_name(const SvgPlot& plot, std::string_view name) {
  return fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" fill=\"{}\">{}</text>\n",
                     plot.center_x(), plot.bottom + 46, kSvgTextColor, name);
}

std::string svg_curve(std::span<const SvgPoint> points, const SvgStyle& style, SvgMarks marks) {
  std::string path, dots;
  bool connected = false;
  for (const SvgPoint& point : points) {
    if (std::isfinite(point.y)) {
      path += fmt::format("{}{:.1f} {:.1f}", connected ? " L" : path.empty() ? "M" : " M", point.x, point.y);
      dots += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.2\"/>", point.x, point.y);
    }
    connected = std::isfinite(point.y);
  }
  if (path.empty()) return "";
  const std::string dashes =
      style.dashes.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", style.dashes);
  std::string text = fmt::format(
      "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2.2\" stroke-linejoin=\"round\"{}/>\n", path,
      style.color, dashes);
  if (marks == SvgMarks::dots) text += fmt::format("<g fill=\"{}\">{}</g>\n", style.color, dots);
  return text;
}

}  // namespace lockstep::report
