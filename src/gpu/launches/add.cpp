#include "gpu/launches/define_launch.h"

namespace lockstep::gpu {

void launch(const PackLaunches& launches, const program::Add&) {
  const std::size_t floats = launches.output_floats();
  launches.context.floats("add", {launches.in(0), launches.in(1), launches.out(0), as_int(floats)}, floats);
}

template void PackLaunches::operator()(const program::Add&) const;

}  // namespace lockstep::gpu
