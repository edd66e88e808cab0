#include "gpu/launches/define_launch.h"
#include "gpu/launches/fast_convolution.h"
#include "gpu/launches/shapes.h"
#include "gpu/launches/unpool.h"

namespace lockstep::gpu {
namespace {

using arithmetic::kPack;
using arithmetic::WeightGradientAlgorithm;
using program::Convolution;

// Rows of dy; or, of fast convolution, one row for each frequency, whose columns are tiles.
OuterShape outer_shape(const Convolution& c, int packs) {
  return {c.input.channels, c.output.channels, c.input.height, c.input.width,   c.output.height,
          c.output.width,   c.kernel.height,   c.kernel.width, c.stride.height, c.stride.width,
          c.padding.height, c.padding.width,   packs};
}
OuterShape outer_shape(const Convolution& c, const Tiling& t, int packs) {
  return {c.input.channels,       c.output.channels, 1, t.tiles(), 1, t.tiles(), 1, 1, 1, 1, 0, 0,
          packs * t.frequencies()};
}

// Nothing for a layer without a bias.
void bias_gradient(const PackLaunches& launches, const Convolution& c, const Memory* dy) {
  if (launches.instruction.outputs.size() < 2) return;
  const int packs = launches.packs();
  launches.context.items("bias_gradient",
                         {dy, launches.sums(1), c.output.channels, positions(c.output), packs},
                         product({packs, c.output.channels}));
}

void lane_chains(const PackLaunches& launches, const Convolution& whole, const Memory* dy) {
  const Convolution c = whole.of_group();
  const int packs = launches.pack_groups(whole);
  const Style& style = launches.context.style;
  launches.context.items("lane_chain", {launches.in(0), dy, launches.sums(0), window_shape(c, packs)},
                         product({packs, divide_up(c.output.channels, style.lane_outputs),
                                  divide_up(c.input.channels * c.taps(), style.lane_taps)}));
}

// x [batch][channel][column] times dy, column by column: channels of x go to the lanes first.
void outer_products(const PackLaunches& launches, const Memory* x, const Memory* dy, const Memory* to,
                    const OuterShape& shape) {
  const LaunchContext& context = launches.context;
  const Memory* const transposed = launches.scratch(kTransposed);
  const int channels = shape.in_channels, columns = shape.in_height * shape.in_width;
  context.items("transpose", {x, transposed, channels, columns, shape.batches},
                product({shape.batches, divide_up(channels, kPack), columns}));
  const int blocks = divide_up(divide_up(channels, kPack), context.style.outer_blocks);
  context.items("outer_product", {transposed, dy, to, shape},
                product({shape.batches, shape.kernel_height * shape.kernel_width,
                         divide_up(shape.out_channels, context.style.outer_outputs), blocks}));
}

void fast_weight_gradient(const PackLaunches& launches, const Convolution& whole) {
  const LaunchContext& context = launches.context;
  const Convolution c = whole.of_group();
  const Tiling t(c);
  const int packs = launches.pack_groups(whole);
  const Memory* const products = launches.scratch(kProducts);
  transform_input(launches, whole, launches.in(0));
  transform_gradient(launches, whole, launches.in(1));
  outer_products(launches, launches.scratch(kFirst), launches.scratch(kSecond), products,
                 outer_shape(c, t, packs));
  context.elements(of_side("winograd_back", t),
                   {products, launches.sums(0), c.output.channels, c.input.channels, c.kernel.height, packs},
                   product({packs, c.output.channels, context.weight_lanes(c.input.channels)}));
}

}  // namespace

void launch(const PackLaunches& launches, const program::WeightGradient& gradient) {
  const Convolution& c = gradient.convolution;
  switch (c.algorithms.weight_gradient) {
    case WeightGradientAlgorithm::per_lane:
      lane_chains(launches, c, launches.in(1));
      break;
    case WeightGradientAlgorithm::per_row:
      outer_products(launches, launches.in(0), launches.in(1), launches.sums(0),
                     outer_shape(c.of_group(), launches.pack_groups(c)));
      break;
    case WeightGradientAlgorithm::winograd:
      fast_weight_gradient(launches, c);
      break;
  }
  bias_gradient(launches, c, launches.in(1));
}

void launch(const PackLaunches& launches, const program::UnpoolWeightGradient& gradient) {
  const Memory* const dy = launches.scratch(kFirst);
  launch_unpool(launches, gradient.pool, {launches.in(1), launches.in(2), dy});
  lane_chains(launches, gradient.convolution, dy);
  bias_gradient(launches, gradient.convolution, dy);
}

template void PackLaunches::operator()(const program::WeightGradient&) const;
template void PackLaunches::operator()(const program::UnpoolWeightGradient&) const;

}  // namespace lockstep::gpu
