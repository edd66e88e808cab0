#include "property/draw.h"

namespace lockstep::property {
namespace {

using rc::gen::set;

// Evenly over the whole range from the first case on; RapidCheck alone would begin with small numbers only.
rc::Gen<int> from(int least, int most) {
  return rc::gen::resize(rc::kNominalSize, rc::gen::inRange(least, most + 1));
}

// Once in `cases`; else 0.
rc::Gen<int> seldom(std::size_t cases, const rc::Gen<int>& drawn) {
  return rc::gen::weightedOneOf<int>({{cases - 1, rc::gen::just(0)}, {1, drawn}});
}

// Of Block::norm.
rc::Gen<int> norm(std::size_t cases) { return seldom(cases, from(1, 4)); }

// Odd ones and multiples of 16, for the two kinds of weight gradient.
rc::Gen<int> channels() {
  constexpr std::array kChannels{1, 2, 3, 5, 7, 16, 17, 32};
  return rc::gen::map(from(0, static_cast<int>(kChannels.size()) - 1),
                      [=](int i) { return kChannels[static_cast<std::size_t>(i)]; });
}

rc::Gen<Block> block() {
  return rc::gen::build<Block>(
      set(&Block::convolution, from(0, 2)), set(&Block::wide, from(0, 1)), set(&Block::channels, channels()),
      set(&Block::kernel_height, from(1, 5)), set(&Block::kernel_width, from(1, 5)),
      set(&Block::stride, from(1, 2)), set(&Block::padding, from(0, 2)), set(&Block::no_bias, from(0, 1)),
      set(&Block::groups, seldom(3, from(1, Block::kWideGroups))), set(&Block::square, from(0, 1)),
      set(&Block::norm, norm(4)), set(&Block::relu, from(0, 1)), set(&Block::dropout, seldom(3, from(1, 4))),
      set(&Block::pool, from(0, 3)), set(&Block::window, from(1, 3)), set(&Block::pool_stride, from(1, 2)),
      set(&Block::pool_padding, from(0, 1)), set(&Block::skip, from(0, 3)), set(&Block::older, from(0, 9)),
      set(&Block::twice, from(0, 1)), set(&Block::skip_norm, norm(6)), set(&Block::skip_relu, from(0, 1)));
}

rc::Gen<Case> usual_case() {
  const rc::Gen<std::vector<Block>> blocks =
      rc::gen::mapcat(rc::gen::weightedOneOf<int>({{1, rc::gen::just(0)}, {9, from(1, 4)}}), [](int count) {
        return rc::gen::container<std::vector<Block>>(static_cast<std::size_t>(count), block());
      });
  const rc::Gen<std::array<int, kSteps>> minibatches =
      rc::gen::map(rc::gen::pair(from(1, 130), from(1, 130)), [](const std::pair<int, int>& sizes) {
        return std::array{sizes.first, sizes.second};
      });
  const rc::Gen<Case> any = rc::gen::build<Case>(
      set(&Case::channels, rc::gen::map(from(1, 5), [](int i) { return i < 4 ? i : 4 * i; })),
      set(&Case::height, from(1, 12)), set(&Case::width, from(1, 12)), set(&Case::input_norm, norm(8)),
      set(&Case::blocks, blocks), set(&Case::classes, from(1, 10)), set(&Case::drawn, minibatches),
      set(&Case::last, seldom(8, from(1, 1))),
      set(&Case::devices, rc::gen::weightedOneOf<int>({{9, from(1, 6)}, {1, from(1, 12)}})),
      set(&Case::threads, from(1, 3)), set(&Case::star, from(0, 1)), set(&Case::layer_order, from(0, 1)),
      set(&Case::rule, from(0, static_cast<int>(arithmetic::kUpdateRules.size()) - 1)),
      set(&Case::decay, rc::gen::map(from(0, 2), [](int i) { return 3 * i; })),
      set(&Case::schedule, from(0, 2)), set(&Case::warmup, seldom(3, from(1, 5))),
      set(&Case::done, seldom(2, from(1, 18))), set(&Case::shard_optimizer, from(0, 1)),
      set(&Case::unfused, from(0, 1)), set(&Case::fast, from(0, 1)), set(&Case::gpus, seldom(8, from(1, 63))),
      set(&Case::gpu_kind, from(0, 2)),
      set(&Case::memory, rc::gen::weightedOneOf<int>(
                             {{1, rc::gen::just(0)}, {1, from(8, 26)}, {2, rc::gen::just(kOnePackAtOnce)}})),
      set(&Case::bucket, rc::gen::element(0, 1, 20, 300)), set(&Case::shares, from(0, 3)),
      set(&Case::numbers, seldom(3, from(1, 3))), set(&Case::seed, from(0, 1000)));
  return rc::gen::map(rc::gen::pair(any, from(0, 3)), [](std::pair<Case, int> drawn) {
    Case& c = drawn.first;
    if (c.gpus != 0) c.numbers = drawn.second;  // unusual ones more often, as GPUs are seldom
    // Gradients that are finite can still add up to an infinite velocity, and a decay can make them infinite.
    if (numbers(c) == Numbers::huge) c.rule = c.decay = 0;
    return c;
  });
}

// Up to 44 packs a step, on whatever devices.
rc::Gen<Case> case_of_many_packs() {
  return rc::gen::map(rc::gen::pair(usual_case(), from(500, 600)), [](std::pair<Case, int> drawn) {
    drawn.first.many = drawn.second;
    return drawn.first;
  });
}

// More packs on one GPU than it works on at once, which is 64, whatever its memory.
rc::Gen<Case> case_of_several_groups() {
  return rc::gen::map(rc::gen::pair(usual_case(), from(1025, 1100)), [](std::pair<Case, int> drawn) {
    Case& c = drawn.first;
    c.many = drawn.second;
    c.devices = c.gpus = 1;
    c.layer_order = 0;
    return c;
  });
}

}  // namespace

rc::Gen<Case> any_case() {
  return rc::gen::weightedOneOf<Case>(
      {{43, usual_case()}, {2, case_of_many_packs()}, {1, case_of_several_groups()}});
}

}  // namespace lockstep::property
