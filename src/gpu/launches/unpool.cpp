#include "gpu/launches/unpool.h"

#include "gpu/launches/define_launch.h"
#include "gpu/launches/shapes.h"

namespace lockstep::gpu {

void launch_unpool(const PackLaunches& launches, const program::Pool& pool, const UnpoolMemory& memory) {
  const int packs = launches.packs();
  launches.context.items("unpool", {memory.dy, memory.mask, memory.dx, window_shape(pool, packs)},
                         product({packs, pool.input.channels, divide_up(pool.input.height, 2),
                                  divide_up(pool.input.width, 2)}));  // blocks of 2x2
}

void launch(const PackLaunches& launches, const program::Unpool& unpool) {
  launch_unpool(launches, unpool.pool, {launches.in(0), launches.in(1), launches.out(0)});
}

template void PackLaunches::operator()(const program::Unpool&) const;

}  // namespace lockstep::gpu
