// The numbers that a parameter starts with.
#pragma once
#include <cstdint>
#include <optional>
#include <variant>

namespace lockstep::model {

// How many inputs make one output, and how many outputs one input goes into.
struct Fans {
  std::int64_t in = 1, out = 1;
};

struct Normal {  // N(0, sigma)
  double sigma = 0.01;
};
struct KaimingUniform {};  // even in +-sqrt(6 / fan in): for layers before a relu
struct XavierUniform {};   // even in +-sqrt(6 / (fan in + fan out))
struct Constant {
  float value = 0;
};

using InitialValues = std::variant<Normal, KaimingUniform, XavierUniform, Constant>;

}  // namespace lockstep::model
