// The weights of a fast convolution in the frequency domain: transformed once a step, prepared for the
// forward pass and, in training, for the input gradient.
#pragma once
#include <optional>

#include "cpu/winograd_layout.h"

namespace lockstep::cpu {

class WinogradWeights : public PreparedWeights {
 public:
  WinogradWeights(const program::Convolution& convolution, const ProductLayout& forward,
                  const std::optional<ProductLayout>& input_gradient, const Kernels& kernels);

  std::size_t prepared_floats() const override;
  void prepare(const float* weights, float* prepared, int part, int parts) const override;

  // Where a direction's weights begin.
  std::ptrdiff_t offset(Direction direction) const {
    return direction == Direction::forward ? 0 : frequencies_ * forward_.weight_step;
  }

 private:
  // Weights in canonical order: floats from one output or input channel of a direction to the next.
  struct Canonical {
    const float* first;
    std::ptrdiff_t out_channel, in_channel;
  };
  void prepare_direction(const ProductLayout& layout, const Canonical& weights, float* prepared, int part,
                         int parts) const;
  void turn(const float* weights, std::ptrdiff_t channel, int taps, int lanes, float* to) const;

  const Kernels& kernels_;
  const Winograd& winograd_;
  const int frequencies_;
  const ProductLayout forward_;
  const std::optional<ProductLayout> input_gradient_;
};

}  // namespace lockstep::cpu
