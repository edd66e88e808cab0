#include "gpu/launches/pack_launches.h"
#include "gpu/launches/shapes.h"

namespace lockstep::gpu {

void PackLaunches::operator()(const program::PoolForward& forward) const {
  const program::Pool& pool = forward.pool;
  const bool average = pool.kind == program::Pool::Kind::average;
  context.items(average ? "average_pool" : "maximum_pool", {in(0), out(0), window_shape(pool, packs())},
                product({packs(), pool.output.elements()}));
}

void PackLaunches::operator()(const program::PoolBackward& backward) const {
  const program::Pool& pool = backward.pool;
  const std::size_t count = product({packs(), pool.input.elements()});
  const WindowShape shape = window_shape(pool, packs());
  if (pool.kind == program::Pool::Kind::average) {
    context.items("average_pool_gradient", {in(0), out(0), shape}, count);
  } else {
    context.items("maximum_pool_gradient", {in(0), in(1), out(0), shape}, count);
  }
}

}  // namespace lockstep::gpu
