// What every picture of ours is drawn with, as SVG text. A picture brings its own white ground, so that it
// reads the same on a light and on a dark page. Equal calls give equal bytes.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace lockstep::report {

constexpr std::string_view kSvgTextColor = "#333333";

struct SvgFrame {
  int width = 0, height = 0;
  int left = 0;  // of the title
  std::string title;
};

// Everything before the first element; "</svg>\n" ends the picture.
std::string svg_begin(const SvgFrame& frame);

std::string svg_escaped(std::string_view text);

// The edges of a plot inside a picture, in pixels.
struct SvgPlot {
  int left = 0, right = 0, top = 0, bottom = 0;
  double y_of(double share) const;  // 0 is the bottom, 1 the top; what lies outside is drawn on the edge
  int center_x() const { return (left + right) / 2; }
  int center_y() const { return (top + bottom) / 2; }
};

// Line across the plot at step `step` of kValueSteps; step 0 is the axis itself.
std::string svg_value_line(const SvgPlot& plot, int step);

// Label of that line, left of the plot.
std::string svg_left_label(const SvgPlot& plot, int step, std::string_view color, std::string_view label);

// The upright name of a value axis, around `x`, turned by `turn` degrees.
std::string svg_value_name(const SvgPlot& plot, int x, int turn, std::string_view color,
                           std::string_view name);

// A mark below the plot at `x`, with its label; svg_tick alone has none.
std::string svg_tick(const SvgPlot& plot, double x);
std::string svg_labeled_tick(const SvgPlot& plot, double x, std::string_view label);
std::string svg_bottom_name(const SvgPlot& plot, std::string_view name);

struct SvgPoint {
  double x = 0, y = 0;  // pixels; a y that is not finite breaks the curve in two
};

struct SvgStyle {
  std::string_view color, dashes;  // dashes as in stroke-dasharray, empty for a solid line
};

enum class SvgMarks { none, dots };

// Empty if no point is finite. A point without neighbours shows as its dot.
std::string svg_curve(std::span<const SvgPoint> points, const SvgStyle& style, SvgMarks marks);

}  // namespace lockstep::report
