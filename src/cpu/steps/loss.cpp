#include <algorithm>
#include <array>

#include "cpu/steps/buffer_step.h"
#include "cpu/steps/define_step.h"

namespace lockstep::cpu {
namespace {

class LossStep : public PackStep {
 public:
  LossStep(const program::Loss& loss, const program::Instruction& i, const StepContext& context)
      : PackStep(i, context), classes_(loss.classes) {}
  void run_pack(const Work& work, int pack) const override {
    const auto examples = static_cast<int>(work.input.minibatch.examples.size());
    alignas(64) std::array<std::int32_t, kPack> predicted{};
    LossJob job{};
    job.z = in(0, work, pack);
    job.labels = bytes(inputs_[1], work, pack);
    job.classes = classes_;
    job.present = std::min(kPack, examples - (work.first_pack + pack) * kPack);
    job.dz = outputs_.size() > 3 ? out(3, work, pack) : nullptr;
    job.loss = out(0, work, pack);
    job.predicted = predicted.data();
    kernels_.loss(job);
    std::array<float, kPack> losses{};
    std::copy_n(job.loss, kPack, losses.begin());
    const float sum = arithmetic::lane_tree(losses) + 0.0f;
    kernels_.join_row(&sum, 0, 1, join(1, work, pack));
    std::int64_t* const seen = arena_.thread_counts(outputs_[2], work.thread);
    for (int lane = 0; lane < job.present; ++lane) {
      const std::uint8_t label = job.labels[lane];
      ++seen[label];
      seen[classes_ + label] += predicted[static_cast<std::size_t>(lane)] == label;
    }
  }

 private:
  const int classes_;
};

}  // namespace

std::unique_ptr<Step> make_step(const program::Loss& loss, const program::Instruction& instruction,
                                const StepContext& context) {
  return std::make_unique<LossStep>(loss, instruction, context);
}

template std::unique_ptr<Step> StepMaker::operator()(const program::Loss&) const;

}  // namespace lockstep::cpu
