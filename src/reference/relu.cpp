#include "reference/relu.h"

#include <cstddef>

namespace lockstep::reference {

std::vector<float> relu_forward(std::span<const float> x) {
  std::vector<float> y;
  for (const float value : x) y.push_back(value > 0 ? value : (value == value ? 0.0f : value));
  return y;
}

std::vector<float> relu_gradient(std::span<const float> y, std::span<const float> dy) {
  std::vector<float> dx;
  for (std::size_t i = 0; i < y.size(); ++i) dx.push_back(y[i] > 0 ? dy[i] : 0.0f);
  return dx;
}

}  // namespace lockstep::reference
