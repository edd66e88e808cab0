#include "gpu/launches/fast_convolution.h"

namespace lockstep::gpu {
namespace {

TileShape tile_shape(const program::Convolution& c, const Tiling& t, int packs) {
  return {c.input.channels, c.input.height,   c.input.width, c.output.channels, c.output.height,
          c.output.width,   c.padding.height, t.rows,        t.columns,         packs};
}

// The products take each group of a pack for further frequencies of it.
void multiply(const PackLaunches& launches, const Memory* from, const Memory* weights, const Memory* to,
              const ProductShape& shape) {
  const LaunchContext& context = launches.context;
  context.items(
      context.tiled("multiply", shape.packs), {from, weights, to, shape},
      context.tiles_of(shape.packs, shape.out_channels) * product({shape.frequencies, shape.tiles}));
}

}  // namespace

std::string of_side(std::string_view kernel, const Tiling& tiling) {
  return fmt::format("{}_{}", kernel, tiling.side);
}

void transform_input(const PackLaunches& launches, const program::Convolution& whole, const Memory* x) {
  const program::Convolution c = whole.of_group();
  const Tiling t(c);
  const int packs = launches.pack_groups(whole);
  launches.context.items(of_side("winograd_input", t),
                         {x, launches.scratch(kFirst), tile_shape(c, t, packs), t.tile},
                         product({packs, c.input.channels, t.tiles()}));
}

void transform_gradient(const PackLaunches& launches, const program::Convolution& whole, const Memory* dy) {
  const program::Convolution c = whole.of_group();
  const Tiling t(c);
  const int packs = launches.pack_groups(whole);
  launches.context.items(of_side("winograd_gradient", t),
                         {dy, launches.scratch(kSecond), tile_shape(c, t, packs), t.tile},
                         product({packs, c.output.channels, t.tiles()}));
}

void fast_forward(const PackLaunches& launches, const program::Forward& forward) {
  const program::Convolution& whole = forward.convolution;
  const program::Convolution c = whole.of_group();
  const Tiling t(c);
  const int packs = launches.pack_groups(whole);
  const Memory *const first = launches.scratch(kFirst), *const second = launches.scratch(kSecond);
  transform_input(launches, whole, launches.in(0));
  multiply(
      launches, first, launches.in(1), second,
      {whole.groups * t.frequencies(), c.input.channels, c.output.channels, t.tiles(), launches.packs()});
  const bool pooled = forward.epilogue == program::Epilogue::relu_average_pool;
  const Memory *const y = launches.out(0), *const mask = pooled ? launches.out(1) : y;
  launches.context.items(of_side("winograd_output", t),
                         {second, launches.bias(), y, mask, tile_shape(c, t, packs), t.tile, whole.groups,
                          launches.has_bias() ? 1 : 0, static_cast<int>(forward.epilogue)},
                         product({packs, c.output.channels, t.tiles()}));
}

void fast_input_gradient(const PackLaunches& launches, const program::Convolution& whole) {
  const LaunchContext& context = launches.context;
  const program::Convolution c = whole.of_group();
  const Tiling t(c);
  const int packs = launches.pack_groups(whole);
  const Memory *const first = launches.scratch(kFirst), *const second = launches.scratch(kSecond);
  transform_gradient(launches, whole, launches.in(0));
  multiply(
      launches, second, context.memory.prepared_back(launches.instruction.inputs[1]), first,
      {whole.groups * t.frequencies(), c.output.channels, c.input.channels, t.tiles(), launches.packs()});
  const TileShape shape = tile_shape(c, t, packs);
  context.items(of_side("winograd_spread", t), {first, shape}, product({packs, c.input.channels, t.tiles()}));
  context.items(of_side("winograd_add_tiles", t), {first, launches.out(0), shape, t.tile},
                product({packs, c.input.elements()}));
}

}  // namespace lockstep::gpu
