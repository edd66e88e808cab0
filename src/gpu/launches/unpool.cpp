#include "gpu/launches/unpool.h"

#include "gpu/launches/shapes.h"

namespace lockstep::gpu {

void launch_unpool(const PackLaunches& launches, const program::Pool& pool, const UnpoolMemory& memory) {
  const int packs = launches.packs();
  launches.context.items("unpool", {memory.dy, memory.mask, memory.dx, window_shape(pool, packs)},
                         product({packs, pool.input.channels, divide_up(pool.input.height, 2),
                                  divide_up(pool.input.width, 2)}));  // blocks of 2x2
}

void PackLaunches::operator()(const program::Unpool& unpool) const {
  launch_unpool(*this, unpool.pool, {in(0), in(1), out(0)});
}

}  // namespace lockstep::gpu
