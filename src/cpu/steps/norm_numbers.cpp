// The numbers of groups that batch norm computes with: threads divide the channels.
#include "cpu/part.h"
#include "cpu/steps/define_step.h"

namespace lockstep::cpu {
namespace {

class NormNumbersStep : public Step {
 public:
  NormNumbersStep(int channels, const program::Instruction& i, const StepContext& context)
      : arena_(context.arena),
        kernels_(context.kernels),
        channels_(static_cast<std::size_t>(channels)),
        inputs_(i.inputs),
        outputs_(i.outputs) {}
  Over over() const override { return Over::elements; }

 protected:
  Part part(const Work& work) const { return part_of(channels_, work.thread, work.threads); }
  // The `numbers` of a group's channels, from `first` on.
  float* of_group(program::BufferId id, int numbers, int group, const Part& part) const {
    return arena_.shared(id) +
           static_cast<std::size_t>(numbers) * static_cast<std::size_t>(group) * channels_ + part.first;
  }

  const Arena& arena_;
  const Kernels& kernels_;
  const std::size_t channels_;
  const std::vector<program::BufferId> inputs_, outputs_;
};

class NormCoefficientsStep : public NormNumbersStep {
 public:
  NormCoefficientsStep(const program::NormCoefficients& norm, const program::Instruction& i,
                       const StepContext& context)
      : NormNumbersStep(norm.channels, i, context), norm_(norm) {}
  void run(const Work& work) const override {
    const Part some = part(work);
    for (int group = norm_.first; group < norm_.last; ++group) {
      const float* const triples = of_group(inputs_[0], 3, group, some);
      kernels_.norm_coefficients({.numbers = triples,
                                  .means = triples + channels_,
                                  .variances = triples + 2 * channels_,
                                  .gamma = arena_.shared(inputs_[1]) + some.first,
                                  .beta = arena_.shared(inputs_[2]) + some.first,
                                  .eps = norm_.eps,
                                  .coefficients = of_group(outputs_[0], 4, group, some),
                                  .channels = channels_,
                                  .count = some.count});
    }
  }

 private:
  const program::NormCoefficients norm_;
};

class RunningCoefficientsStep : public NormNumbersStep {
 public:
  RunningCoefficientsStep(const program::RunningCoefficients& norm, const program::Instruction& i,
                          const StepContext& context)
      : NormNumbersStep(norm.channels, i, context), eps_(norm.eps) {}
  void run(const Work& work) const override {
    const Part some = part(work);
    const auto parameter = [&](std::size_t i) { return arena_.shared(inputs_[i]) + some.first; };
    kernels_.norm_coefficients({.numbers = nullptr,
                                .means = parameter(0),
                                .variances = parameter(1),
                                .gamma = parameter(2),
                                .beta = parameter(3),
                                .eps = eps_,
                                .coefficients = of_group(outputs_[0], 4, 0, some),
                                .channels = channels_,
                                .count = some.count});
  }

 private:
  const float eps_;
};

class NormFactorsStep : public NormNumbersStep {
 public:
  NormFactorsStep(const program::NormFactors& norm, const program::Instruction& i, const StepContext& context)
      : NormNumbersStep(norm.channels, i, context), norm_(norm) {}
  void run(const Work& work) const override {
    const Part some = part(work);
    for (int group = norm_.first; group < norm_.last; ++group)
      kernels_.norm_factors({.triples = of_group(inputs_[0], 3, group, some),
                             .coefficients = of_group(inputs_[1], 4, group, some),
                             .sums = of_group(inputs_[2], 2, group, some),
                             .factors = of_group(outputs_[0], 3, group, some),
                             .channels = channels_,
                             .count = some.count});
  }

 private:
  const program::NormFactors norm_;
};

class NormRunningStep : public NormNumbersStep {
 public:
  NormRunningStep(const program::NormRunning& norm, const program::Instruction& i, const StepContext& context)
      : NormNumbersStep(norm.channels, i, context), norm_(norm) {}
  void run(const Work& work) const override {
    if (*arena_.counts(inputs_[0]) == 0) return;
    const Part some = part(work);
    for (int group = 0; group < norm_.groups; ++group)
      kernels_.norm_running({.triples = of_group(inputs_[1], 3, group, some),
                             .momentum = norm_.momentum,
                             .mean = arena_.shared(outputs_[0]) + some.first,
                             .variance = arena_.shared(outputs_[1]) + some.first,
                             .channels = channels_,
                             .count = some.count});
  }

 private:
  const program::NormRunning norm_;
};

}  // namespace

std::unique_ptr<Step> make_step(const program::NormCoefficients& norm,
                                const program::Instruction& instruction, const StepContext& context) {
  return std::make_unique<NormCoefficientsStep>(norm, instruction, context);
}

std::unique_ptr<Step> make_step(const program::RunningCoefficients& norm,
                                const program::Instruction& instruction, const StepContext& context) {
  return std::make_unique<RunningCoefficientsStep>(norm, instruction, context);
}

std::unique_ptr<Step> make_step(const program::NormFactors& norm, const program::Instruction& instruction,
                                const StepContext& context) {
  return std::make_unique<NormFactorsStep>(norm, instruction, context);
}

std::unique_ptr<Step> make_step(const program::NormRunning& norm, const program::Instruction& instruction,
                                const StepContext& context) {
  return std::make_unique<NormRunningStep>(norm, instruction, context);
}

template std::unique_ptr<Step> StepMaker::operator()(const program::NormCoefficients&) const;
template std::unique_ptr<Step> StepMaker::operator()(const program::RunningCoefficients&) const;
template std::unique_ptr<Step> StepMaker::operator()(const program::NormFactors&) const;
template std::unique_ptr<Step> StepMaker::operator()(const program::NormRunning&) const;

}  // namespace lockstep::cpu
