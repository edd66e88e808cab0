// What a case computes with, and what the naive twin makes of it.
#pragma once
#include <cstdint>
#include <vector>

#include "device/device.h"
#include "property/case.h"
#include "reference/network.h"

namespace lockstep::property {

using reference::Tensor;

// The pictures of a case, half of their pixels black.
struct Examples {
  std::vector<std::uint8_t> pixels, labels;
  std::vector<std::uint32_t> order;
  std::size_t picture;

  explicit Examples(const Case& c);
  // Of a step of the case, from 0.
  device::StepInput input(const Case& c, std::size_t step) const;
};

// The naive twin goes through the same steps.
class Twin {
 public:
  explicit Twin(const Case& c);

  // False if the loss or a gradient is not finite; then nothing is updated.
  bool step(const Examples& set);

  // Is every parameter finite? A training ends in the step after which one is not.
  bool finite() const;

  float loss() const { return loss_; }  // of the last step
  const std::vector<Tensor>& weights() const { return weights_; }
  // The parameters, then each state of the rule for those that are trained, as run::State has them.
  std::vector<Tensor> state() const;

  // Has it seen such a number among its weights, states and gradients?
  bool saw_denormal() const { return saw_denormal_; }
  bool saw_negative_zero() const { return saw_negative_zero_; }

 private:
  void look_at(const std::vector<Tensor>& tensors);

  const Case case_;
  const model::Model model_;
  const std::vector<model::Parameter> parameters_;
  const arithmetic::UpdateKind rule_;
  std::vector<Tensor> weights_;
  std::vector<std::vector<Tensor>> states_;  // by state of the rule, then by parameter; empty if not trained
  std::size_t steps_ = 0;                    // of the case that are done
  float loss_ = 0;
  bool saw_denormal_ = false, saw_negative_zero_ = false;
};

// Tensor after tensor, bit patterns; every NaN has the same, because the law leaves the bits of a NaN open.
std::vector<std::uint32_t> bits(const std::vector<Tensor>& tensors);

}  // namespace lockstep::property
