#include "program/geometry.h"

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

double multiply_adds(const Convolution& c) {
  const double rows =
      taps_inside(c.output.height, c.input.height, c.kernel.height, c.stride.height, c.padding.height);
  const double columns =
      taps_inside(c.output.width, c.input.width, c.kernel.width, c.stride.width, c.padding.width);
  const int inputs = c.input.channels / c.groups;
  return rows * columns * inputs * c.output.channels;
}

}  // namespace lockstep::program
