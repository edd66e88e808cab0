#include "cpu/steps/buffer_step.h"
#include "cpu/steps/define_step.h"

namespace lockstep::cpu {
namespace {

class AddStep : public PackStep {
 public:
  AddStep(const program::Instruction& i, const StepContext& context)
      : PackStep(i, context), floats_(context.elements(i.outputs[0]) * kPack) {}
  void run_pack(const Work& work, int pack) const override {
    kernels_.sum(in(0, work, pack), in(1, work, pack), out(0, work, pack), floats_);
  }

 private:
  const std::size_t floats_;
};

}  // namespace

std::unique_ptr<Step> make_step(const program::Add&, const program::Instruction& instruction,
                                const StepContext& context) {
  return std::make_unique<AddStep>(instruction, context);
}

template std::unique_ptr<Step> StepMaker::operator()(const program::Add&) const;

}  // namespace lockstep::cpu
