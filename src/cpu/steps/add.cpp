#include "cpu/steps/buffer_step.h"
#include "cpu/steps/step_maker.h"

namespace lockstep::cpu {
namespace {

class AddStep : public PackStep {
 public:
  AddStep(const program::Add& add, const program::Instruction& i, const StepContext& context)
      : PackStep(i, context), relu_(add.relu), floats_(context.elements(i.outputs[0]) * kPack) {}
  void run_pack(const Work& work, int pack) const override {
    const auto sum = relu_ ? kernels_.sum_relu : kernels_.sum;
    sum(in(0, work, pack), in(1, work, pack), out(0, work, pack), floats_);
  }

 private:
  const bool relu_;
  const std::size_t floats_;
};

}  // namespace

std::unique_ptr<Step> StepMaker::operator()(const program::Add& add) const {
  return std::make_unique<AddStep>(add, instruction, context);
}

}  // namespace lockstep::cpu
