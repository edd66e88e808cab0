#include "gpu/launches/define_launch.h"

namespace lockstep::gpu {

void launch(const PackLaunches& launches, const program::Loss& loss) {
  const bool gradient = launches.instruction.outputs.size() > 3;
  launches.context.items("loss",
                         {launches.in(0), launches.in(1), launches.out(0), launches.sums(1),
                          launches.context.memory.predicted(), gradient ? launches.out(3) : launches.out(0),
                          loss.classes, launches.group.examples, launches.packs(), gradient ? 1 : 0},
                         product({launches.packs()}));
}

template void PackLaunches::operator()(const program::Loss&) const;

}  // namespace lockstep::gpu
