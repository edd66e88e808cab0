// Where an element stands in a plain [example][channel][y][x] tensor.
#pragma once
#include <cstddef>

namespace lockstep::reference {

struct ImageShape {
  int channels = 0, height = 0, width = 0;

  std::size_t index(int example, int channel, int y, int x) const {
    return static_cast<std::size_t>(((static_cast<long>(example) * channels + channel) * height + y) * width +
                                    x);
  }
  std::size_t elements(int examples) const { return index(examples, 0, 0, 0); }
  bool inside(int y, int x) const { return 0 <= y && y < height && 0 <= x && x < width; }
};

}  // namespace lockstep::reference
