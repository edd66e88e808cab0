#include "gpu/launches/define_launch.h"
#include "gpu/launches/shapes.h"

namespace lockstep::gpu {

void launch(const PackLaunches& launches, const program::PoolForward& forward) {
  const program::Pool& pool = forward.pool;
  const bool average = pool.kind == program::Pool::Kind::average;
  launches.context.items(average ? "average_pool" : "maximum_pool",
                         {launches.in(0), launches.out(0), window_shape(pool, launches.packs())},
                         product({launches.packs(), pool.output.elements()}));
}

void launch(const PackLaunches& launches, const program::PoolBackward& backward) {
  const program::Pool& pool = backward.pool;
  const std::size_t count = product({launches.packs(), pool.input.elements()});
  const WindowShape shape = window_shape(pool, launches.packs());
  if (pool.kind == program::Pool::Kind::average) {
    launches.context.items("average_pool_gradient", {launches.in(0), launches.out(0), shape}, count);
  } else {
    launches.context.items("maximum_pool_gradient", {launches.in(0), launches.in(1), launches.out(0), shape},
                           count);
  }
}

template void PackLaunches::operator()(const program::PoolForward&) const;
template void PackLaunches::operator()(const program::PoolBackward&) const;

}  // namespace lockstep::gpu
