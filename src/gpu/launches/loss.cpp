#include "gpu/launches/pack_launches.h"

namespace lockstep::gpu {

void PackLaunches::operator()(const program::Loss& loss) const {
  const bool gradient = instruction.outputs.size() > 3;
  context.items("loss",
                {in(0), in(1), out(0), sums(1), context.memory.predicted(), gradient ? out(3) : out(0),
                 loss.classes, group.examples, packs(), gradient ? 1 : 0},
                product({packs()}));
}

}  // namespace lockstep::gpu
