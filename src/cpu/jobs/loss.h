// Softmax cross entropy of a pack (simd/loss.h).
#pragma once
#include <cstdint>

namespace lockstep::cpu {

struct LossJob {
  const float* z;  // [class][lane]
  const std::uint8_t* labels;
  int classes, present;     // lanes that hold an example
  float* dz;                // null for evaluation
  float* loss;              // [lane]
  std::int32_t* predicted;  // [lane]
};
using LossFunction = void (*)(const LossJob&);

}  // namespace lockstep::cpu
