#include "gpu/launches/norm_elements.h"

#include "gpu/launch_plan.h"

namespace lockstep::gpu {

bool launch_norm_elements(const LaunchContext& context, const program::Instruction& instruction) {
  const auto in = [&](std::size_t i) { return context.memory.at(instruction.inputs[i]); };
  const auto out = [&](std::size_t i) { return context.memory.at(instruction.outputs[i]); };
  if (const auto* const norm = std::get_if<program::NormCoefficients>(&instruction.operation)) {
    const int groups = norm->last - norm->first;
    context.elements("norm_coefficients",
                     {in(0), in(1), in(2), out(0), norm->channels, norm->first, groups, norm->eps},
                     product({groups, norm->channels}));
  } else if (const auto* const running = std::get_if<program::RunningCoefficients>(&instruction.operation)) {
    context.elements("running_coefficients",
                     {in(0), in(1), in(2), in(3), out(0), running->channels, running->eps},
                     product({running->channels}));
  } else if (const auto* const factors = std::get_if<program::NormFactors>(&instruction.operation)) {
    const int groups = factors->last - factors->first;
    context.elements("norm_factors", {in(0), in(1), in(2), out(0), factors->channels, factors->first, groups},
                     product({groups, factors->channels}));
  } else if (const auto* const update = std::get_if<program::NormRunning>(&instruction.operation)) {
    context.elements("norm_running",
                     {in(1), out(0), out(1), update->channels, update->groups, update->momentum},
                     product({update->channels}));
  } else {
    return false;
  }
  return true;
}

}  // namespace lockstep::gpu
