#include <algorithm>

#include "cpu/lane_chain_plan.h"
#include "cpu/outer_product_plan.h"
#include "cpu/steps/buffer_step.h"
#include "cpu/steps/define_step.h"
#include "cpu/winograd_gradient_plan.h"

namespace lockstep::cpu {
namespace {

// Where the operands of a group of channels lie, counted from those of the first group.
class Groups {
 public:
  explicit Groups(const program::Convolution& whole) : count_(whole.groups), group_(whole.of_group()) {}

  int count() const { return count_; }
  const program::Convolution& group() const { return group_; }
  std::ptrdiff_t x(int g) const { return group_.input.area() * group_.input.channels * kPack * g; }
  std::ptrdiff_t dy(int g) const { return group_.output.area() * group_.output.channels * kPack * g; }
  std::ptrdiff_t pooled_dy(int g) const { return dy(g) / 4; }
  std::ptrdiff_t mask(int g) const { return dy(g) / 8; }  // a bit a float
  std::ptrdiff_t weight(int g) const { return g * static_cast<std::ptrdiff_t>(group_.weights()); }
  std::ptrdiff_t bias(int g) const { return std::ptrdiff_t{g} * group_.output.channels; }

 private:
  const int count_;
  const program::Convolution group_;
};

class LaneChainStep : public PackStep {
 public:
  LaneChainStep(const program::Convolution& c, const program::Instruction& i, const StepContext& context)
      : PackStep(i, context), groups_(c), plan_(groups_.group(), context.kernels) {}
  std::size_t scratch_floats() const override { return plan_.scratch_floats(); }
  void run_pack(const Work& work, int pack) const override {
    const JoinTarget weights = join(0, work, pack), bias = join(1, work, pack);
    const float *const x = in(0, work, pack), *const dy = in(1, work, pack);
    const std::uint8_t* const mask = inputs_.size() > 2 ? bytes(inputs_[2], work, pack) : nullptr;
    for (int g = 0; g < groups_.count(); ++g) {
      const JoinTarget to_weights = weights.from(groups_.weight(g)), to_bias = bias.from(groups_.bias(g));
      if (mask == nullptr) {
        plan_.run(x + groups_.x(g), dy + groups_.dy(g), to_weights, to_bias, work.scratch());
      } else {
        plan_.run_unpooled(x + groups_.x(g), dy + groups_.pooled_dy(g), mask + groups_.mask(g), to_weights,
                           to_bias, work.scratch());
      }
    }
  }

 private:
  const Groups groups_;
  const LaneChainPlan plan_;
};

class OuterProductStep : public BufferStep {
 public:
  OuterProductStep(const program::Convolution& c, const program::Instruction& i, const StepContext& context)
      : BufferStep(i, context),
        groups_(c),
        plan_(groups_.group(), context.kernels),
        most_packs_(plan_.most_packs(context.group)) {}
  std::size_t scratch_floats() const override { return plan_.scratch_floats(most_packs_); }

  void run(const Work& work) const override {
    for (int first = work.first; first < work.last; first += most_packs_) {
      for (int g = 0; g < groups_.count(); ++g) run_group(work, first, g);
    }
  }

 private:
  // Up to most_packs_ packs from `first` on.
  void run_group(const Work& work, int first, int g) const {
    std::vector<OuterProductPlan::PackOperands> packs;
    for (int pack = first; pack < std::min(first + most_packs_, work.last); ++pack) {
      packs.push_back({in(0, work, pack) + groups_.x(g), in(1, work, pack) + groups_.dy(g),
                       join(0, work, pack).from(groups_.weight(g)),
                       join(1, work, pack).from(groups_.bias(g))});
    }
    plan_.run(packs, work.scratch());
  }

  const Groups groups_;
  const OuterProductPlan plan_;
  const int most_packs_;
};

class WinogradGradientStep : public PackStep {
 public:
  WinogradGradientStep(const program::Convolution& c, const program::Instruction& i,
                       const StepContext& context)
      : PackStep(i, context), groups_(c), plan_(groups_.group(), context.kernels, cache_sizes()) {}
  std::size_t scratch_floats() const override { return plan_.scratch_floats(); }
  void run_pack(const Work& work, int pack) const override {
    const JoinTarget weights = join(0, work, pack), bias = join(1, work, pack);
    for (int g = 0; g < groups_.count(); ++g) {
      plan_.run(in(0, work, pack) + groups_.x(g), in(1, work, pack) + groups_.dy(g),
                weights.from(groups_.weight(g)), bias.from(groups_.bias(g)), work.scratch());
    }
  }

 private:
  const Groups groups_;
  const WinogradGradientPlan plan_;
};

}  // namespace

std::unique_ptr<Step> make_step(const program::WeightGradient& gradient,
                                const program::Instruction& instruction, const StepContext& context) {
  const program::Convolution& c = gradient.convolution;
  switch (c.algorithms.weight_gradient) {
    case arithmetic::WeightGradientAlgorithm::per_lane:
      return std::make_unique<LaneChainStep>(c, instruction, context);
    case arithmetic::WeightGradientAlgorithm::per_row:
      return std::make_unique<OuterProductStep>(c, instruction, context);
    case arithmetic::WeightGradientAlgorithm::winograd:
      return std::make_unique<WinogradGradientStep>(c, instruction, context);
  }
  return nullptr;
}

std::unique_ptr<Step> make_step(const program::UnpoolWeightGradient& gradient,
                                const program::Instruction& instruction, const StepContext& context) {
  return std::make_unique<LaneChainStep>(gradient.convolution, instruction, context);
}

template std::unique_ptr<Step> StepMaker::operator()(const program::WeightGradient&) const;
template std::unique_ptr<Step> StepMaker::operator()(const program::UnpoolWeightGradient&) const;

}  // namespace lockstep::cpu
