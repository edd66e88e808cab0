#include "gpu/launch_plan.h"

#include <algorithm>

#include "base/error.h"

namespace lockstep::gpu {
namespace {

using arithmetic::kPack;
using arithmetic::WeightGradientAlgorithm;
using program::Convolution;
using program::Instruction;

constexpr int kMostTaps = 0x7fff;

void need_scratch(std::vector<std::size_t>& scratch, Scratch use, std::size_t floats) {
  scratch[use] = std::max(scratch[use], floats);
}

void plan_scratch(const Instruction& i, int packs, std::vector<std::size_t>& scratch) {
  const auto frequencies = [&](const Convolution& c) {
    const Tiling t(c);
    need_scratch(scratch, kFirst, product({packs, t.frequencies(), c.input.channels, t.tiles(), kPack}));
    need_scratch(scratch, kSecond, product({packs, t.frequencies(), c.output.channels, t.tiles(), kPack}));
  };
  if (const auto* forward = std::get_if<program::Forward>(&i.operation)) {
    if (forward->convolution.algorithms.winograd()) frequencies(forward->convolution);
  } else if (const auto* back = std::get_if<program::InputGradient>(&i.operation)) {
    if (back->convolution.algorithms.winograd()) frequencies(back->convolution);
  } else if (const auto* unpool = std::get_if<program::UnpoolWeightGradient>(&i.operation)) {
    need_scratch(scratch, kFirst, product({packs, unpool->convolution.output.elements(), kPack}));
  } else if (const auto* gradient = std::get_if<program::WeightGradient>(&i.operation)) {
    const Convolution& c = gradient->convolution;
    const Convolution group = c.of_group();
    const int parts = packs * c.groups, blocks = divide_up(group.input.channels, kPack);
    switch (c.algorithms.weight_gradient) {
      case WeightGradientAlgorithm::per_lane:
        // The kernel keeps a tap's row and column in one int.
        if (std::max(c.kernel.height, c.kernel.width) > kMostTaps)
          throw Error(Fault::usage,
                      "{}: a GPU takes kernels of at most {} rows and columns, this one has {} x {}", i.layer,
                      kMostTaps, c.kernel.height, c.kernel.width);
        break;
      case WeightGradientAlgorithm::per_row:
        need_scratch(scratch, kTransposed, product({parts, blocks, positions(c.input), kPack, kPack}));
        break;
      case WeightGradientAlgorithm::winograd: {
        const Tiling t(c);
        frequencies(c);
        need_scratch(scratch, kTransposed,
                     product({parts, t.frequencies(), blocks, t.tiles(), kPack, kPack}));
        need_scratch(scratch, kProducts,
                     product({parts, t.frequencies(), group.output.channels, group.input.channels}));
        break;
      }
    }
  }
}

}  // namespace

void plan_launches(const program::Program& program, const Style& style, MemorySizes& sizes) {
  sizes.scratch.assign(kScratches, 0);
  for (const program::Segment& segment : program.segments) {
    for (const Instruction& i : segment.instructions) {
      plan_scratch(i, sizes.group, sizes.scratch);
      const auto* const prepare = std::get_if<program::Prepare>(&i.operation);
      if (prepare == nullptr) continue;
      const Convolution c = prepare->convolution.of_group();
      const bool fast = prepare->use == program::Prepare::Use::frequencies;
      const int taps = prepare->convolution.groups * (fast ? Tiling(c).frequencies() : c.taps());
      const std::size_t forward = product({taps, c.input.channels, padded(c.output.channels, style)});
      const std::size_t back = product({taps, c.output.channels, padded(c.input.channels, style)});
      sizes.prepared[i.outputs[0]] = prepare->use == program::Prepare::Use::input_gradient ? back : forward;
      if (fast) sizes.prepared_back[i.outputs[0]] = back;
    }
  }
}

}  // namespace lockstep::gpu
