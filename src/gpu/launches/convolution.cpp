#include "gpu/launches/define_launch.h"
#include "gpu/launches/fast_convolution.h"
#include "gpu/launches/shapes.h"

namespace lockstep::gpu {

void launch(const PackLaunches& launches, const program::Forward& forward) {
  if (forward.convolution.algorithms.winograd()) return fast_forward(launches, forward);
  const program::Convolution c = forward.convolution.of_group();
  const int groups = forward.convolution.groups;
  const WindowShape shape = window_shape(c, launches.packs());
  const int biased = launches.has_bias() ? 1 : 0;
  const std::size_t tiles = launches.context.tiles_of(launches.packs(), c.output.channels);
  if (forward.epilogue == program::Epilogue::relu_average_pool) {
    launches.context.items(launches.context.tiled("convolve_pool", launches.packs()),
                           {launches.in(0), launches.in(1), launches.bias(), launches.out(0), launches.out(1),
                            shape, groups, biased},
                           tiles * product({groups, positions(c.output) / 4}));
  } else {
    const int relu = forward.epilogue == program::Epilogue::relu ? 1 : 0;
    launches.context.items(
        launches.context.tiled("convolve", launches.packs()),
        {launches.in(0), launches.in(1), launches.bias(), launches.out(0), shape, groups, biased, relu},
        tiles * product({groups, positions(c.output)}));
  }
}

void launch(const PackLaunches& launches, const program::InputGradient& gradient) {
  if (gradient.convolution.algorithms.winograd()) return fast_input_gradient(launches, gradient.convolution);
  const program::Convolution c = gradient.convolution.of_group();
  const int groups = gradient.convolution.groups;
  launches.context.items(
      launches.context.tiled("convolve_back", launches.packs()),
      {launches.in(0), launches.in(1), launches.out(0), window_shape(c, launches.packs()), groups},
      launches.context.tiles_of(launches.packs(), c.input.channels) * product({groups, positions(c.input)}));
}

template void PackLaunches::operator()(const program::Forward&) const;
template void PackLaunches::operator()(const program::InputGradient&) const;

}  // namespace lockstep::gpu
