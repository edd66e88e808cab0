#include "gpu/launches/define_launch.h"

namespace lockstep::gpu {

void launch(const PackLaunches& launches, const program::ReluForward&) {
  const std::size_t floats = launches.output_floats();
  launches.context.floats("relu", {launches.in(0), launches.out(0), as_int(floats)}, floats);
}

void launch(const PackLaunches& launches, const program::ReluBackward&) {
  const std::size_t floats = launches.output_floats();
  launches.context.floats("relu_gradient", {launches.in(0), launches.in(1), launches.out(0), as_int(floats)},
                          floats);
}

template void PackLaunches::operator()(const program::ReluForward&) const;
template void PackLaunches::operator()(const program::ReluBackward&) const;

}  // namespace lockstep::gpu
