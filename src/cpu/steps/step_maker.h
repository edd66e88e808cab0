// From an operation to its step: one function for each operation, defined in the file of its kind. An
// operation without a function here does not compile, a function without a definition does not link.
#pragma once
#include "cpu/step.h"

namespace lockstep::cpu {

struct StepMaker {
  const program::Instruction& instruction;
  const StepContext& context;

  std::unique_ptr<Step> operator()(const program::Load& load) const;
  std::unique_ptr<Step> operator()(const program::Prepare& prepare) const;
  std::unique_ptr<Step> operator()(const program::Forward& forward) const;
  std::unique_ptr<Step> operator()(const program::ReluForward& relu) const;
  std::unique_ptr<Step> operator()(const program::ReluBackward& relu) const;
  std::unique_ptr<Step> operator()(const program::PoolForward& forward) const;
  std::unique_ptr<Step> operator()(const program::PoolBackward& backward) const;
  std::unique_ptr<Step> operator()(const program::Unpool& unpool) const;
  std::unique_ptr<Step> operator()(const program::Add& add) const;
  std::unique_ptr<Step> operator()(const program::Dropout& dropout) const;
  std::unique_ptr<Step> operator()(const program::Loss& loss) const;
  std::unique_ptr<Step> operator()(const program::InputGradient& gradient) const;
  std::unique_ptr<Step> operator()(const program::WeightGradient& gradient) const;
  std::unique_ptr<Step> operator()(const program::UnpoolWeightGradient& gradient) const;
  std::unique_ptr<Step> operator()(const program::NormStatistics& norm) const;
  std::unique_ptr<Step> operator()(const program::NormCoefficients& norm) const;
  std::unique_ptr<Step> operator()(const program::RunningCoefficients& norm) const;
  std::unique_ptr<Step> operator()(const program::NormForward& norm) const;
  std::unique_ptr<Step> operator()(const program::NormSums& norm) const;
  std::unique_ptr<Step> operator()(const program::NormFactors& norm) const;
  std::unique_ptr<Step> operator()(const program::NormInputGradient& norm) const;
  std::unique_ptr<Step> operator()(const program::NormRunning& norm) const;
  std::unique_ptr<Step> operator()(const program::Check& check) const;
  std::unique_ptr<Step> operator()(const program::Update& update) const;
  std::unique_ptr<Step> operator()(const program::Look& look) const;  // throws: it runs on the host
};

}  // namespace lockstep::cpu
