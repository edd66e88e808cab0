#include <algorithm>
#include <array>

#include "cpu/steps/buffer_step.h"
#include "cpu/steps/step_maker.h"

namespace lockstep::cpu {
namespace {

class DropoutStep : public PackStep {
 public:
  DropoutStep(const program::Dropout& d, const program::Instruction& i, const StepContext& context)
      : PackStep(i, context), dropout_(d) {}
  void run_pack(const Work& work, int pack) const override {
    const std::span<const std::uint32_t> examples = work.input.minibatch.examples;
    const std::size_t first = static_cast<std::size_t>(work.first_pack + pack) * kPack;
    const std::size_t present = std::min<std::size_t>(kPack, examples.size() - first);
    std::array<std::uint32_t, kPack> of_lanes{};
    std::ranges::copy(examples.subspan(first, present), of_lanes.begin());
    kernels_.dropout({.x = in(0, work, pack),
                      .y = out(0, work, pack),
                      .channels = dropout_.kept.channels,
                      .rows = dropout_.kept.height,
                      .columns = dropout_.kept.width,
                      .whole_rows = dropout_.whole.height,
                      .whole_columns = dropout_.whole.width,
                      .examples = of_lanes.data(),
                      .present = static_cast<int>(present),
                      .seed = work.input.seed,
                      .epoch = static_cast<std::uint32_t>(work.input.epoch),
                      .stream = dropout_.stream,
                      .threshold = dropout_.threshold,
                      .scale = dropout_.scale});
  }

 private:
  const program::Dropout dropout_;
};

}  // namespace

std::unique_ptr<Step> StepMaker::operator()(const program::Dropout& dropout) const {
  return std::make_unique<DropoutStep>(dropout, instruction, context);
}

}  // namespace lockstep::cpu
