#include "reference/linear.h"

#include <cmath>
#include <cstddef>

#include "reference/minibatch_sum.h"

namespace lockstep::reference {
namespace {

std::size_t at(int row, int width, int column) {
  return static_cast<std::size_t>(static_cast<long>(row) * width + column);
}

}  // namespace

std::vector<float> linear_forward(const LinearShape& shape, int examples, std::span<const float> x,
                                  std::span<const float> weight, std::span<const float> bias) {
  std::vector<float> y;
  for (int e = 0; e < examples; ++e) {
    for (int o = 0; o < shape.out_units; ++o) {
      float sum = bias.empty() ? 0.0f : bias[static_cast<std::size_t>(o)];
      for (int i = 0; i < shape.in_units; ++i) {
        sum = std::fma(weight[at(o, shape.in_units, i)], x[at(e, shape.in_units, i)], sum);
      }
      y.push_back(sum + 0.0f);
    }
  }
  return y;
}

std::vector<float> linear_input_gradient(const LinearShape& shape, int examples, std::span<const float> dy,
                                         std::span<const float> weight) {
  std::vector<float> dx;
  for (int e = 0; e < examples; ++e) {
    for (int i = 0; i < shape.in_units; ++i) {
      float sum = 0;
      for (int o = 0; o < shape.out_units; ++o) {
        sum = std::fma(weight[at(o, shape.in_units, i)], dy[at(e, shape.out_units, o)], sum);
      }
      dx.push_back(sum + 0.0f);
    }
  }
  return dx;
}

std::vector<float> linear_weight_gradient(const LinearShape& shape, int examples, std::span<const float> x,
                                          std::span<const float> dy) {
  std::vector<float> dw;
  for (int o = 0; o < shape.out_units; ++o) {
    for (int i = 0; i < shape.in_units; ++i) {
      dw.push_back(sum_over_packs(examples, [&](int first, int end) {
        float sum = 0;
        for (int e = first; e < end; ++e) {
          sum = std::fma(dy[at(e, shape.out_units, o)], x[at(e, shape.in_units, i)], sum);
        }
        return sum;
      }));
    }
  }
  return dw;
}

std::vector<float> linear_bias_gradient(const LinearShape& shape, int examples, std::span<const float> dy) {
  std::vector<float> db;
  db.reserve(static_cast<std::size_t>(shape.out_units));
  for (int o = 0; o < shape.out_units; ++o) {
    db.push_back(sum_over_lanes(examples, [&](int e) { return dy[at(e, shape.out_units, o)]; }));
  }
  return db;
}

}  // namespace lockstep::reference
