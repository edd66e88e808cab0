#include "gpu/launches/prepare.h"

#include "gpu/launch_plan.h"

namespace lockstep::gpu {

void launch_prepare(const LaunchContext& context, const program::Instruction& instruction) {
  const auto& prepare = std::get<program::Prepare>(instruction.operation);
  const program::Convolution c = prepare.convolution.of_group();
  const int groups = prepare.convolution.groups;
  const GpuMemory& memory = context.memory;
  const Memory *const from = memory.at(instruction.inputs[0]), *const to = memory.at(instruction.outputs[0]);
  const int outputs = c.output.channels, inputs = c.input.channels;
  const int padded_outputs = padded(outputs, context.style), padded_inputs = padded(inputs, context.style);
  if (prepare.use == program::Prepare::Use::frequencies) {
    const std::string kernel = fmt::format("winograd_weights_{}", Tiling(c).side);
    context.elements(kernel, {from, to, outputs, inputs, c.kernel.height, groups, 0},
                     product({groups, inputs, context.weight_lanes(padded_outputs)}));
    const Memory* const back = memory.prepared_back(instruction.outputs[0]);
    context.elements(kernel, {from, back, outputs, inputs, c.kernel.height, groups, 1},
                     product({groups, outputs, context.weight_lanes(padded_inputs)}));
    return;
  }
  const bool backward = prepare.use == program::Prepare::Use::input_gradient;
  context.floats("prepare", {from, to, outputs, inputs, c.taps(), groups, backward ? 1 : 0},
                 backward ? product({groups, outputs, padded_inputs, c.taps()})
                          : product({groups, inputs, padded_outputs, c.taps()}));
}

}  // namespace lockstep::gpu
