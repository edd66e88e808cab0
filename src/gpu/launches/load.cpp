#include "gpu/launches/define_launch.h"

namespace lockstep::gpu {

void launch(const PackLaunches& launches, const program::Load& load) {
  const int pixels = load.shape.elements();
  launches.context.items(
      "load_pixels",
      {launches.context.memory.pixels(), launches.out(0), pixels, launches.group.examples, launches.packs()},
      product({launches.packs(), pixels}));
}

template void PackLaunches::operator()(const program::Load&) const;

}  // namespace lockstep::gpu
