#include <array>

#include "cpu/steps/buffer_step.h"
#include "cpu/steps/define_step.h"

namespace lockstep::cpu {
namespace {

class LoadStep : public PackStep {
 public:
  LoadStep(const program::Load& load, const program::Instruction& i, const StepContext& context)
      : PackStep(i, context),
        pixels_(load.shape.elements()),
        nothing_(static_cast<std::size_t>(pixels_), 0) {}

  void run_pack(const Work& work, int pack) const override {
    const device::Minibatch& minibatch = work.input.minibatch;
    std::uint8_t* const labels = bytes(outputs_[1], work, pack);
    std::array<const std::uint8_t*, kPack> examples{};
    for (std::size_t lane = 0; lane < kPack; ++lane) {
      const std::size_t e = static_cast<std::size_t>(work.first_pack + pack) * kPack + lane;
      const bool present = e < minibatch.examples.size();
      const std::uint32_t example = present ? minibatch.examples[e] : 0;
      examples[lane] =
          present ? minibatch.pixels + static_cast<std::size_t>(example) * static_cast<std::size_t>(pixels_)
                  : nothing_.data();
      labels[lane] = present ? minibatch.labels[example] : 0;
    }
    kernels_.load_pixels(examples.data(), pixels_, out(0, work, pack));
  }

 private:
  const int pixels_;
  const std::vector<std::uint8_t> nothing_;  // the picture of an absent example
};

}  // namespace

std::unique_ptr<Step> make_step(const program::Load& load, const program::Instruction& instruction,
                                const StepContext& context) {
  return std::make_unique<LoadStep>(load, instruction, context);
}

template std::unique_ptr<Step> StepMaker::operator()(const program::Load&) const;

}  // namespace lockstep::cpu
