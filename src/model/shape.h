// Sizes of what flows between layers, for one example.
#pragma once
#include <cstddef>
#include <string>

namespace lockstep::model {

struct Extent {
  int height = 0, width = 0;

  std::ptrdiff_t area() const { return static_cast<std::ptrdiff_t>(height) * width; }
  bool operator==(const Extent&) const = default;
};

// A flat vector of n units is {n, 1, 1}.
struct Shape {
  int channels = 0, height = 1, width = 1;

  int elements() const { return channels * height * width; }
  Extent extent() const { return {height, width}; }
  std::ptrdiff_t area() const { return extent().area(); }  // of one channel
  bool flat() const { return height == 1 && width == 1; }
  bool operator==(const Shape&) const = default;
};

std::string to_string(const Shape& shape);  // "20x26x26", "128"

}  // namespace lockstep::model
