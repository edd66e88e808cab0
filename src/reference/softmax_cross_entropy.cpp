#include "reference/softmax_cross_entropy.h"

#include <cstddef>

#include "arithmetic/scalar.h"
#include "reference/minibatch_sum.h"

namespace lockstep::reference {
namespace {

std::size_t first_maximum(std::span<const float> z) {
  std::size_t top = 0;
  for (std::size_t c = 1; c < z.size(); ++c) {
    if (z[c] > z[top]) top = c;
  }
  return top;
}

}  // namespace

Loss softmax_cross_entropy(int classes, std::span<const float> z, std::span<const std::uint8_t> labels) {
  Loss result;
  const auto width = static_cast<std::size_t>(classes);
  for (std::size_t e = 0; e < labels.size(); ++e) {
    const std::span<const float> scores = z.subspan(e * width, width);
    const std::size_t label = labels[e];
    const std::size_t predicted = first_maximum(scores);
    const float top = scores[predicted];
    float sum = 0;
    for (const float score : scores) sum = sum + arithmetic::exp_law(score - top);
    for (std::size_t c = 0; c < width; ++c) {
      const float p = arithmetic::exp_law(scores[c] - top) / sum;
      result.dz.push_back(p - (c == label ? 1.0f : 0.0f));
    }
    result.loss.push_back(arithmetic::log_law(sum) - (scores[label] - top));
    if (predicted == label) ++result.correct;
  }
  return result;
}

float loss_sum(std::span<const float> loss) {
  return sum_over_lanes(static_cast<int>(loss.size()),
                        [&](int e) { return loss[static_cast<std::size_t>(e)]; });
}

}  // namespace lockstep::reference
