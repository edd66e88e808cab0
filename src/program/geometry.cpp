#include "program/geometry.h"

#include <fmt/format.h>

namespace lockstep::program {
namespace {

// Pairs (output, tap) of one dimension whose input lies inside the image.
double taps_inside(int outputs, int inputs, int kernel, int stride, int padding) {
  int inside = 0;
  for (int output = 0; output < outputs; ++output) {
    for (int tap = 0; tap < kernel; ++tap) {
      const int input = output * stride + tap - padding;
      inside += input >= 0 && input < inputs;
    }
  }
  return inside;
}

}  // namespace

std::string to_string(const Convolution& c) {
  std::string text = fmt::format("{} -> {}", to_string(c.input), to_string(c.output));
  if (c.taps() == 1 && c.input.flat() && c.groups == 1) return text;
  text += fmt::format(", {}x{}", c.kernel.height, c.kernel.width);
  if (c.stride != Extent{1, 1}) text += fmt::format(" stride {}x{}", c.stride.height, c.stride.width);
  if (c.padding != Extent{0, 0}) text += fmt::format(" padding {}x{}", c.padding.height, c.padding.width);
  if (c.groups != 1) text += fmt::format(" in {} groups", c.groups);
  if (c.algorithms.winograd()) return text + fmt::format(" in {0}x{0} tiles", c.algorithms.tile);
  return text + " direct";
}

std::string to_string(const Pool& p) {
  return fmt::format("{} {}x{}, {} -> {}", p.kind == Pool::Kind::average ? "average" : "maximum",
                     p.window.height, p.window.width, to_string(p.input), to_string(p.output));
}

double multiply_adds(const Convolution& c) {
  const double rows =
      taps_inside(c.output.height, c.input.height, c.kernel.height, c.stride.height, c.padding.height);
  const double columns =
      taps_inside(c.output.width, c.input.width, c.kernel.width, c.stride.width, c.padding.width);
  const int inputs = c.input.channels / c.groups;
  return rows * columns * inputs * c.output.channels;
}

}  // namespace lockstep::program
