#include "gpu/launches/pack_launches.h"

namespace lockstep::gpu {

void PackLaunches::operator()(const program::ReluForward&) const {
  const std::size_t floats = output_floats();
  context.floats("relu", {in(0), out(0), as_int(floats)}, floats);
}

void PackLaunches::operator()(const program::ReluBackward&) const {
  const std::size_t floats = output_floats();
  if (instruction.inputs.size() > 2) {
    context.floats("relu_gradient_of_sum", {in(0), in(2), in(1), out(0), as_int(floats)}, floats);
  } else {
    context.floats("relu_gradient", {in(0), in(1), out(0), as_int(floats)}, floats);
  }
}

}  // namespace lockstep::gpu
