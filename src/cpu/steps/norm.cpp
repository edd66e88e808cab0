// Batch norm over packs.
#include <algorithm>

#include "cpu/steps/buffer_step.h"
#include "cpu/steps/step_maker.h"

namespace lockstep::cpu {
namespace {

// Knows the planes of an activation, and where a pack's numbers stand among the statistics.
class NormStep : public PackStep {
 public:
  NormStep(const program::Shape& shape, program::PackGroups groups, const program::Instruction& i,
           const StepContext& context)
      : PackStep(i, context),
        channels_(shape.channels),
        positions_(shape.height * shape.width),
        groups_(groups) {}

 protected:
  static int present(const Work& work, int pack) {
    const auto examples = static_cast<int>(work.input.minibatch.examples.size());
    return std::min(kPack, examples - (work.first_pack + pack) * kPack);
  }
  // The `numbers` of each channel, of a pack or of the pack's group.
  float* of_pack(program::BufferId id, int numbers, const Work& work, int pack) const {
    return row(id, numbers, work.first_pack + pack);
  }
  const float* of_group(program::BufferId id, int numbers, const Work& work, int pack) const {
    return row(id, numbers, groups_.of(work.first_pack + pack));
  }

  const int channels_, positions_;

 private:
  float* row(program::BufferId id, int numbers, int number) const {
    return arena_.shared(id) +
           static_cast<std::ptrdiff_t>(number) * static_cast<std::ptrdiff_t>(numbers) * channels_;
  }

  const program::PackGroups groups_;
};

class NormStatisticsStep : public NormStep {
 public:
  NormStatisticsStep(const program::NormStatistics& norm, const program::Instruction& i,
                     const StepContext& context)
      : NormStep(norm.shape, {}, i, context) {}
  void run_pack(const Work& work, int pack) const override {
    kernels_.norm_statistics(
        {in(0, work, pack), channels_, positions_, present(work, pack), of_pack(outputs_[0], 3, work, pack)});
  }
};

class NormForwardStep : public NormStep {
 public:
  NormForwardStep(const program::NormForward& norm, const program::Instruction& i, const StepContext& context)
      : NormStep(norm.shape, norm.groups, i, context), relu_(norm.relu) {}
  void run_pack(const Work& work, int pack) const override {
    const float* const addend = inputs_.size() > 2 ? in(2, work, pack) : nullptr;
    kernels_.norm_forward({in(0, work, pack), of_group(inputs_[1], 4, work, pack), addend, out(0, work, pack),
                           channels_, positions_, relu_});
  }

 private:
  const bool relu_;
};

class NormSumsStep : public NormStep {
 public:
  NormSumsStep(const program::NormSums& norm, const program::Instruction& i, const StepContext& context)
      : NormStep(norm.shape, norm.groups, i, context), relu_(norm.relu) {}
  void run_pack(const Work& work, int pack) const override {
    float* const sums = of_pack(outputs_[0], 2, work, pack);
    kernels_.norm_sums({in(0, work, pack), in(1, work, pack), of_group(inputs_[2], 4, work, pack), channels_,
                        positions_, present(work, pack), relu_},
                       sums);
    const auto count = static_cast<std::size_t>(channels_);
    kernels_.join_row(sums + channels_, 0, count, join(1, work, pack));
    kernels_.join_row(sums, 0, count, join(2, work, pack));
  }

 private:
  const bool relu_;
};

class NormInputGradientStep : public NormStep {
 public:
  NormInputGradientStep(const program::NormInputGradient& norm, const program::Instruction& i,
                        const StepContext& context)
      : NormStep(norm.shape, norm.groups, i, context), relu_(norm.relu) {}
  void run_pack(const Work& work, int pack) const override {
    kernels_.norm_input_gradient({in(0, work, pack), in(1, work, pack), of_group(inputs_[2], 4, work, pack),
                                  channels_, positions_, present(work, pack), relu_},
                                 of_group(inputs_[3], 3, work, pack), out(0, work, pack));
  }

 private:
  const bool relu_;
};

}  // namespace

std::unique_ptr<Step> StepMaker::operator()(const program::NormStatistics& norm) const {
  return std::make_unique<NormStatisticsStep>(norm, instruction, context);
}

std::unique_ptr<Step> StepMaker::operator()(const program::NormForward& norm) const {
  return std::make_unique<NormForwardStep>(norm, instruction, context);
}

std::unique_ptr<Step> StepMaker::operator()(const program::NormSums& norm) const {
  return std::make_unique<NormSumsStep>(norm, instruction, context);
}

std::unique_ptr<Step> StepMaker::operator()(const program::NormInputGradient& norm) const {
  return std::make_unique<NormInputGradientStep>(norm, instruction, context);
}

}  // namespace lockstep::cpu
