#include "gpu/launcher.h"

#include "base/error.h"
#include "gpu/launch_plan.h"

namespace lockstep::gpu {
namespace {

using arithmetic::kPack;
using arithmetic::WeightGradientAlgorithm;
using program::BufferId;
using program::Convolution;
using program::Instruction;

WindowShape window(const Convolution& c, int packs) {
  return {c.input.channels, c.input.height,  c.input.width,  c.output.channels, c.output.height,
          c.output.width,   c.kernel.height, c.kernel.width, c.stride.height,   c.stride.width,
          c.padding.height, c.padding.width, packs};
}
WindowShape window(const program::Pool& p, int packs) {
  return {p.input.channels, p.input.height,  p.input.width,  p.output.channels, p.output.height,
          p.output.width,   p.window.height, p.window.width, p.stride.height,   p.stride.width,
          p.padding.height, p.padding.width, packs};
}

TileShape shape_of(const Convolution& c, const Tiling& t, int packs) {
  return {c.input.channels, c.input.height,   c.input.width, c.output.channels, c.output.height,
          c.output.width,   c.padding.height, t.rows,        t.columns,         packs};
}

// One row, whose columns are tiles; or the rows of dy.
OuterShape outer(const Convolution& c, int packs) {
  return {c.input.channels, c.output.channels, c.input.height, c.input.width,   c.output.height,
          c.output.width,   c.kernel.height,   c.kernel.width, c.stride.height, c.stride.width,
          c.padding.height, c.padding.width,   packs};
}
OuterShape outer(const Convolution& c, const Tiling& t, int packs) {
  return {c.input.channels,       c.output.channels, 1, t.tiles(), 1, t.tiles(), 1, 1, 1, 1, 0, 0,
          packs * t.frequencies()};
}

}  // namespace

Launcher::Launcher(Driver& driver, const GpuMemory& memory, const program::Program& program)
    : driver_(driver), memory_(memory), program_(program), style_(driver.style()) {}

void Launcher::items(std::string_view kernel, const std::vector<Argument>& arguments,
                     std::size_t count) const {
  driver_.launch(Queue::compute, kernel, arguments, style_.items(count));
}

void Launcher::floats(std::string_view kernel, const std::vector<Argument>& arguments,
                      std::size_t count) const {
  driver_.launch(Queue::compute, kernel, arguments, style_.items_for_floats(count));
}

void Launcher::elements(std::string_view kernel, const std::vector<Argument>& arguments,
                        std::size_t count) const {
  driver_.launch(Queue::compute, kernel, arguments, count);
}

// Transforms of weights take neighbouring channels as lanes.
int Launcher::weight_lanes(int channels) const {
  return style_.pack_per_item ? divide_up(channels, kPack) : channels;
}

// A work-item that has several packs computes as if all were there.
int Launcher::tile_packs(int packs) const {
  constexpr int kCostOfOne = 2;  // of a pack by itself, against one among several
  const int whole = divide_up(packs, style_.tile_packs) * style_.tile_packs;
  return whole <= kCostOfOne * packs ? style_.tile_packs : 1;
}

std::string Launcher::tiled(std::string_view kernel, int packs) const {
  return fmt::format("{}_{}", kernel, tile_packs(packs));
}

std::size_t Launcher::tiles_of(int packs, int channels) const {
  return product({divide_up(packs, tile_packs(packs)), divide_up(channels, style_.tile_outputs)});
}

// One function an operation.
struct Launcher::Runner {
  const Launcher& launcher;
  const Instruction& i;
  const PackGroup& group;

  const Memory* in(std::size_t n) const { return launcher.memory_.at(i.inputs[n]); }
  const Memory* out(std::size_t n) const { return launcher.memory_.at(i.outputs[n]); }
  const Memory* sums(std::size_t n) const { return launcher.memory_.pack_sums(i.outputs[n]); }
  const Memory* scratch(Scratch use) const { return launcher.memory_.scratch(use); }
  const Style& style() const { return launcher.style_; }
  int packs() const { return group.packs; }
  std::size_t floats(BufferId id) const {
    return launcher.program_.buffers[static_cast<std::size_t>(id)].elements * product({packs(), kPack});
  }
  static std::string of_side(std::string_view kernel, const Tiling& t) {
    return fmt::format("{}_{}", kernel, t.side);
  }

  void operator()(const program::Load& load) const {
    const int pixels = load.shape.elements();
    launcher.items("load_pixels", {launcher.memory_.pixels(), out(0), pixels, group.examples, packs()},
                   product({packs(), pixels}));
  }

  void operator()(const program::Forward& o) const {
    const Convolution& c = o.convolution;
    if (c.algorithms.winograd()) return fast_forward(o);
    const WindowShape shape = window(c, packs());
    const std::size_t tiles = launcher.tiles_of(packs(), c.output.channels);
    if (o.epilogue == program::Epilogue::relu_average_pool) {
      launcher.items(launcher.tiled("convolve_pool", packs()), {in(0), in(1), in(2), out(0), out(1), shape},
                     tiles * product({positions(c.output) / 4}));
    } else {
      const int relu = o.epilogue == program::Epilogue::relu ? 1 : 0;
      launcher.items(launcher.tiled("convolve", packs()), {in(0), in(1), in(2), out(0), shape, relu},
                     tiles * product({positions(c.output)}));
    }
  }

  void multiply(const Memory* from, const Memory* weights, const Memory* to,
                const ProductShape& shape) const {
    launcher.items(
        launcher.tiled("multiply", packs()), {from, weights, to, shape},
        launcher.tiles_of(packs(), shape.out_channels) * product({shape.frequencies, shape.tiles}));
  }

  void transform_input(const Convolution& c, const Tiling& t, const Memory* x) const {
    launcher.items(of_side("winograd_input", t), {x, scratch(kFirst), shape_of(c, t, packs()), t.tile},
                   product({packs(), c.input.channels, t.tiles()}));
  }
  void transform_gradient(const Convolution& c, const Tiling& t, const Memory* dy) const {
    launcher.items(of_side("winograd_gradient", t), {dy, scratch(kSecond), shape_of(c, t, packs()), t.tile},
                   product({packs(), c.output.channels, t.tiles()}));
  }

  void fast_forward(const program::Forward& o) const {
    const Convolution& c = o.convolution;
    const Tiling t(c);
    transform_input(c, t, in(0));
    multiply(scratch(kFirst), in(1), scratch(kSecond),
             {t.frequencies(), c.input.channels, c.output.channels, t.tiles(), packs()});
    const bool pooled = o.epilogue == program::Epilogue::relu_average_pool;
    launcher.items(of_side("winograd_output", t),
                   {scratch(kSecond), in(2), out(0), pooled ? out(1) : out(0), shape_of(c, t, packs()),
                    t.tile, static_cast<int>(o.epilogue)},
                   product({packs(), c.output.channels, t.tiles()}));
  }

  void operator()(const program::InputGradient& o) const {
    const Convolution& c = o.convolution;
    if (!c.algorithms.winograd()) {
      launcher.items(launcher.tiled("convolve_back", packs()), {in(0), in(1), out(0), window(c, packs())},
                     launcher.tiles_of(packs(), c.input.channels) * product({positions(c.input)}));
      return;
    }
    const Tiling t(c);
    transform_gradient(c, t, in(0));
    multiply(scratch(kSecond), launcher.memory_.prepared_back(i.inputs[1]), scratch(kFirst),
             {t.frequencies(), c.output.channels, c.input.channels, t.tiles(), packs()});
    const TileShape shape = shape_of(c, t, packs());
    launcher.items(of_side("winograd_spread", t), {scratch(kFirst), shape},
                   product({packs(), c.input.channels, t.tiles()}));
    launcher.items(of_side("winograd_gather", t), {scratch(kFirst), out(0), shape, t.tile},
                   product({packs(), c.input.elements()}));
  }

  void bias_gradient(const Convolution& c, const Memory* dy) const {
    launcher.items("bias_gradient", {dy, sums(1), c.output.channels, positions(c.output), packs()},
                   product({packs(), c.output.channels}));
  }

  void lane_chains(const Convolution& c, const Memory* dy) const {
    launcher.items("lane_chain", {in(0), dy, sums(0), window(c, packs())},
                   product({packs(), divide_up(c.output.channels, style().lane_outputs),
                            divide_up(c.input.channels * c.taps(), style().lane_taps)}));
    bias_gradient(c, dy);
  }

  void outer_products(const Memory* transposed, const Memory* dy, const Memory* to, const OuterShape& shape,
                      int channels) const {
    const int blocks = divide_up(divide_up(channels, kPack), style().outer_blocks);
    launcher.items("outer_product", {transposed, dy, to, shape},
                   product({shape.batches, shape.kernel_height * shape.kernel_width,
                            divide_up(shape.out_channels, style().outer_outputs), blocks}));
  }

  void transpose(const Memory* from, int channels, int places, int batches) const {
    launcher.items("transpose", {from, scratch(kTransposed), channels, places, batches},
                   product({batches, divide_up(channels, kPack), places}));
  }

  void operator()(const program::WeightGradient& o) const {
    const Convolution& c = o.convolution;
    switch (c.algorithms.weight_gradient) {
      case WeightGradientAlgorithm::per_lane:
        return lane_chains(c, in(1));
      case WeightGradientAlgorithm::per_row:
        transpose(in(0), c.input.channels, positions(c.input), packs());
        outer_products(scratch(kTransposed), in(1), sums(0), outer(c, packs()), c.input.channels);
        return bias_gradient(c, in(1));
      case WeightGradientAlgorithm::winograd:
        return fast_weight_gradient(c);
    }
  }

  void fast_weight_gradient(const Convolution& c) const {
    const Tiling t(c);
    transform_input(c, t, in(0));
    transform_gradient(c, t, in(1));
    transpose(scratch(kFirst), c.input.channels, t.tiles(), packs() * t.frequencies());
    outer_products(scratch(kTransposed), scratch(kSecond), scratch(kProducts), outer(c, t, packs()),
                   c.input.channels);
    launcher.elements(
        of_side("winograd_back", t),
        {scratch(kProducts), sums(0), c.output.channels, c.input.channels, c.kernel.height, packs()},
        product({packs(), c.output.channels, launcher.weight_lanes(c.input.channels)}));
    bias_gradient(c, in(1));
  }

  void unpool(const program::Pool& pool, const Memory* to) const {
    launcher.items("unpool", {in(i.inputs.size() - 2), in(i.inputs.size() - 1), to, window(pool, packs())},
                   product({packs(), pool.input.channels, divide_up(pool.input.height, 2),
                            divide_up(pool.input.width, 2)}));  // blocks of 2x2
  }
  void operator()(const program::Unpool& o) const { unpool(o.pool, out(0)); }
  void operator()(const program::UnpoolWeightGradient& o) const {
    unpool(o.pool, scratch(kFirst));
    lane_chains(o.convolution, scratch(kFirst));
  }

  void operator()(const program::ReluForward&) const {
    launcher.floats("relu", {in(0), out(0), as_int(floats(i.outputs[0]))}, floats(i.outputs[0]));
  }
  void operator()(const program::ReluBackward&) const {
    launcher.floats("relu_gradient", {in(0), in(1), out(0), as_int(floats(i.outputs[0]))},
                    floats(i.outputs[0]));
  }
  void operator()(const program::Add&) const {
    launcher.floats("add", {in(0), in(1), out(0), as_int(floats(i.outputs[0]))}, floats(i.outputs[0]));
  }
  void operator()(const program::PoolForward& o) const {
    const bool average = o.pool.kind == program::Pool::Kind::average;
    launcher.items(average ? "average_pool" : "maximum_pool", {in(0), out(0), window(o.pool, packs())},
                   product({packs(), o.pool.output.elements()}));
  }
  void operator()(const program::PoolBackward& o) const {
    const std::size_t count = product({packs(), o.pool.input.elements()});
    const WindowShape shape = window(o.pool, packs());
    if (o.pool.kind == program::Pool::Kind::average) {
      launcher.items("average_pool_gradient", {in(0), out(0), shape}, count);
    } else {
      launcher.items("maximum_pool_gradient", {in(0), in(1), out(0), shape}, count);
    }
  }

  void operator()(const program::Loss& o) const {
    const bool gradient = i.outputs.size() > 3;
    launcher.items("loss",
                   {in(0), in(1), out(0), sums(1), launcher.memory_.predicted(), gradient ? out(3) : out(0),
                    o.classes, group.examples, packs(), gradient ? 1 : 0},
                   product({packs()}));
  }

  void operator()(const program::Prepare&) const { not_over_packs(); }
  void operator()(const program::Check&) const { not_over_packs(); }
  void operator()(const program::Update&) const { not_over_packs(); }

  [[noreturn]] void not_over_packs() const {
    throw Error(Fault::ours, "defect: '{}' does not run over packs", program::operation_name(i.operation));
  }
};

void Launcher::run(const Instruction& instruction, const PackGroup& group) const {
  std::visit(Runner{*this, instruction, group}, instruction.operation);
}

void Launcher::prepare(const Instruction& i) const {
  const auto& prepare = std::get<program::Prepare>(i.operation);
  const Convolution& c = prepare.convolution;
  const Memory *const from = memory_.at(i.inputs[0]), *const to = memory_.at(i.outputs[0]);
  const int outputs = c.output.channels, inputs = c.input.channels;
  const std::size_t forward = product({inputs, padded(outputs, style_)});
  const std::size_t back = product({outputs, padded(inputs, style_)});
  if (prepare.use == program::Prepare::Use::frequencies) {
    const std::string kernel = fmt::format("winograd_weights_{}", Tiling(c).side);
    elements(kernel, {from, to, outputs, inputs, c.kernel.height, 0},
             product({inputs, weight_lanes(padded(outputs, style_))}));
    elements(kernel, {from, memory_.prepared_back(i.outputs[0]), outputs, inputs, c.kernel.height, 1},
             product({outputs, weight_lanes(padded(inputs, style_))}));
    return;
  }
  const bool backward = prepare.use == program::Prepare::Use::input_gradient;
  floats("prepare", {from, to, outputs, inputs, c.taps(), backward ? 1 : 0},
         (backward ? back : forward) * product({c.taps()}));
}

void Launcher::join_packs(BufferId partial, const PackGroup& group) const {
  const std::size_t count = program_.buffers[static_cast<std::size_t>(partial)].elements;
  floats("join_packs",
         {memory_.pack_sums(partial), memory_.stack(partial), memory_.schedule(), as_int(count), group.first,
          group.packs},
         count);
}

}  // namespace lockstep::gpu
