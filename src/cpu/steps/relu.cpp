#include "cpu/steps/buffer_step.h"
#include "cpu/steps/step_maker.h"

namespace lockstep::cpu {
namespace {

class ReluStep : public PackStep {
 public:
  ReluStep(const program::Instruction& i, const StepContext& context)
      : PackStep(i, context), floats_(context.elements(i.outputs[0]) * kPack) {}
  void run_pack(const Work& work, int pack) const override {
    if (inputs_.size() == 1) {
      kernels_.relu(in(0, work, pack), out(0, work, pack), floats_);
    } else if (inputs_.size() == 2) {
      kernels_.relu_gradient(in(0, work, pack), in(1, work, pack), out(0, work, pack), floats_);
    } else {
      kernels_.relu_gradient_of_sum(in(0, work, pack), in(2, work, pack), in(1, work, pack),
                                    out(0, work, pack), floats_);
    }
  }

 private:
  const std::size_t floats_;
};

}  // namespace

std::unique_ptr<Step> StepMaker::operator()(const program::ReluForward&) const {
  return std::make_unique<ReluStep>(instruction, context);
}

std::unique_ptr<Step> StepMaker::operator()(const program::ReluBackward&) const {
  return std::make_unique<ReluStep>(instruction, context);
}

}  // namespace lockstep::cpu
