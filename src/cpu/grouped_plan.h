// A convolution with groups as one call after the other of the plan of a group. Channels, weights and biases
// of a group lie one behind the other, and so do the groups.
#pragma once
#include <memory>

#include "cpu/convolution_plan.h"
#include "program/geometry.h"

namespace lockstep::cpu {

class GroupedWeights : public PreparedWeights {
 public:
  // `of_group`: the weights of whole.of_group().
  GroupedWeights(const program::Convolution& whole, std::shared_ptr<const PreparedWeights> of_group);

  bool canonical() const override { return of_group_->canonical(); }
  std::size_t prepared_floats() const override;
  void prepare(const float* weights, float* prepared, int part, int parts) const override;

  // Floats from the prepared weights of a group to those of the next.
  std::ptrdiff_t step() const { return step_; }

 private:
  const std::shared_ptr<const PreparedWeights> of_group_;
  const int groups_;
  const std::ptrdiff_t canonical_step_, step_;
};

class GroupedPlan : public ConvolutionPlan {
 public:
  // `of_group`: the plan of whole.of_group(). `weights_step`: GroupedWeights::step() of its weights.
  GroupedPlan(const program::Convolution& whole, Direction direction, program::Epilogue epilogue,
              std::shared_ptr<const ConvolutionPlan> of_group, std::ptrdiff_t weights_step);

  // The groups of a pack stand between those of its neighbours.
  int most_packs() const override { return 1; }
  std::size_t scratch_floats() const override { return of_group_->scratch_floats(); }
  void run(const Operands& operands, float* scratch) const override;

 private:
  const std::shared_ptr<const ConvolutionPlan> of_group_;
  const int groups_, biases_;
  std::ptrdiff_t input_step_, output_step_, mask_step_;  // from a group to the next: floats, bytes of a mask
  const std::ptrdiff_t weights_step_;
};

}  // namespace lockstep::cpu
