#include <algorithm>

#include "cpu/lane_chain_plan.h"
#include "cpu/outer_product_plan.h"
#include "cpu/steps/buffer_step.h"
#include "cpu/steps/step_maker.h"
#include "cpu/winograd_gradient_plan.h"

namespace lockstep::cpu {
namespace {

class LaneChainStep : public PackStep {
 public:
  LaneChainStep(const program::Convolution& c, const program::Instruction& i, const StepContext& context)
      : PackStep(i, context), plan_(c, context.kernels) {}
  std::size_t scratch_floats() const override { return plan_.scratch_floats(); }
  void run_pack(const Work& work, int pack) const override {
    const JoinTarget weights = join(0, work, pack), bias = join(1, work, pack);
    if (inputs_.size() == 2) {
      plan_.run(in(0, work, pack), in(1, work, pack), weights, bias, work.scratch());
    } else {
      plan_.run_unpooled(in(0, work, pack), in(1, work, pack), bytes(inputs_[2], work, pack), weights, bias,
                         work.scratch());
    }
  }

 private:
  const LaneChainPlan plan_;
};

class OuterProductStep : public BufferStep {
 public:
  OuterProductStep(const program::Convolution& c, const program::Instruction& i, const StepContext& context)
      : BufferStep(i, context), plan_(c, context.kernels), group_(plan_.most_packs(context.group)) {}
  std::size_t scratch_floats() const override { return plan_.scratch_floats(group_); }

  void run(const Work& work) const override {
    for (int first = work.first; first < work.last; first += group_) {
      std::vector<OuterProductPlan::PackOperands> packs;
      for (int pack = first; pack < std::min(first + group_, work.last); ++pack) {
        packs.push_back({in(0, work, pack), in(1, work, pack), join(0, work, pack), join(1, work, pack)});
      }
      plan_.run(packs, work.scratch());
    }
  }

 private:
  const OuterProductPlan plan_;
  const int group_;
};

class WinogradGradientStep : public PackStep {
 public:
  WinogradGradientStep(const program::Convolution& c, const program::Instruction& i,
                       const StepContext& context)
      : PackStep(i, context), plan_(c, context.kernels, cache_sizes()) {}
  std::size_t scratch_floats() const override { return plan_.scratch_floats(); }
  void run_pack(const Work& work, int pack) const override {
    plan_.run(in(0, work, pack), in(1, work, pack), join(0, work, pack), join(1, work, pack), work.scratch());
  }

 private:
  const WinogradGradientPlan plan_;
};

}  // namespace

std::unique_ptr<Step> StepMaker::operator()(const program::WeightGradient& gradient) const {
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

std::unique_ptr<Step> StepMaker::operator()(const program::UnpoolWeightGradient& gradient) const {
  return std::make_unique<LaneChainStep>(gradient.convolution, instruction, context);
}

}  // namespace lockstep::cpu
