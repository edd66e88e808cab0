#include "cpu/grouped_plan.h"

#include <utility>

#include "base/divide.h"
#include "cpu/size.h"
#include "cpu/tiling.h"

namespace lockstep::cpu {
namespace {

std::ptrdiff_t floats(const program::Shape& shape) { return shape.channels * shape.area() * kPack; }

}  // namespace

GroupedWeights::GroupedWeights(const program::Convolution& whole,
                               std::shared_ptr<const PreparedWeights> of_group)
    : of_group_(std::move(of_group)),
      groups_(whole.groups),
      canonical_step_(static_cast<std::ptrdiff_t>(whole.of_group().weights())),
      step_(of_group_->canonical() ? canonical_step_
                                   : round_up(static_cast<std::ptrdiff_t>(of_group_->prepared_floats()),
                                              std::ptrdiff_t{kPack})) {}

std::size_t GroupedWeights::prepared_floats() const { return size(groups_ * step_); }

void GroupedWeights::prepare(const float* weights, float* prepared, int part, int parts) const {
  for (int g = 0; g < groups_; ++g)
    of_group_->prepare(weights + g * canonical_step_, prepared + g * step_, part, parts);
}

GroupedPlan::GroupedPlan(const program::Convolution& whole, Direction direction, program::Epilogue epilogue,
                         std::shared_ptr<const ConvolutionPlan> of_group, std::ptrdiff_t weights_step)
    : of_group_(std::move(of_group)),
      groups_(whole.groups),
      biases_(whole.of_group().output.channels),
      weights_step_(weights_step) {
  const program::Convolution group = whole.of_group();
  const bool forward = direction == Direction::forward;
  input_step_ = floats(forward ? group.input : group.output);
  output_step_ = floats(forward ? group.output : group.input);
  if (epilogue == program::Epilogue::relu_average_pool) output_step_ /= 4;
  mask_step_ = floats(group.output) / 8;  // a bit a float
}

void GroupedPlan::run(const Operands& operands, float* scratch) const {
  Operands group = operands;
  for (int g = 0; g < groups_; ++g) {
    of_group_->run(group, scratch);
    group.input += input_step_;
    group.weights += weights_step_;
    if (group.bias != nullptr) group.bias += biases_;
    group.output += output_step_;
    if (group.mask != nullptr) group.mask += mask_step_;
  }
}

}  // namespace lockstep::cpu
