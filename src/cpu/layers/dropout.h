// Dropout of a pack, forward or backward.
#pragma once
#include <cstdint>

#include "cpu/kernels.h"

namespace lockstep::cpu {

struct DropoutJob {
  const float* x;  // [channel][row][column][lane]
  float* y;        // the same; may be x
  int channels, rows, columns;
  int whole_rows, whole_columns;  // of the untrimmed layer, whose elements are counted
  const std::uint32_t* examples;  // [lane]: the number of the lane's example in the dataset
  int present;                    // lanes that hold an example
  std::uint64_t seed;
  std::uint32_t epoch, stream;
  std::uint32_t threshold;
  float scale;
};
using DropoutFunction = void (*)(const DropoutJob&);

// For the instruction set of the row.
DropoutFunction dropout_kernel(const Kernels& row);

}  // namespace lockstep::cpu
