#include "gpu/launches/fast_convolution.h"
#include "gpu/launches/shapes.h"

namespace lockstep::gpu {

void PackLaunches::operator()(const program::Forward& forward) const {
  if (forward.convolution.algorithms.winograd()) return fast_forward(*this, forward);
  const program::Convolution c = forward.convolution.of_group();
  const int groups = forward.convolution.groups;
  const WindowShape shape = window_shape(c, packs());
  const int biased = has_bias() ? 1 : 0;
  const std::size_t tiles = context.tiles_of(packs(), c.output.channels);
  if (forward.epilogue == program::Epilogue::relu_average_pool) {
    context.items(context.tiled("convolve_pool", packs()),
                  {in(0), in(1), bias(), out(0), out(1), shape, groups, biased},
                  tiles * product({groups, positions(c.output) / 4}));
  } else {
    const int relu = forward.epilogue == program::Epilogue::relu ? 1 : 0;
    context.items(context.tiled("convolve", packs()),
                  {in(0), in(1), bias(), out(0), shape, groups, biased, relu},
                  tiles * product({groups, positions(c.output)}));
  }
}

void PackLaunches::operator()(const program::InputGradient& gradient) const {
  if (gradient.convolution.algorithms.winograd()) return fast_input_gradient(*this, gradient.convolution);
  const program::Convolution c = gradient.convolution.of_group();
  const int groups = gradient.convolution.groups;
  context.items(context.tiled("convolve_back", packs()),
                {in(0), in(1), out(0), window_shape(c, packs()), groups},
                context.tiles_of(packs(), c.input.channels) * product({groups, positions(c.input)}));
}

}  // namespace lockstep::gpu
