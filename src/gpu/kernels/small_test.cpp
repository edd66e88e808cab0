// The small kernels as C++ against the naive twins, bit for bit.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "arithmetic/pack.h"
#include "arithmetic/scalar.h"
#include "arithmetic/tree.h"
#include "base/same_bits_for_test.h"
#include "gpu/kernels/kernels_host.h"
#include "reference/lane_tree.h"
#include "reference/pack_tree.h"
#include "reference/pool.h"
#include "reference/relu.h"
#include "reference/softmax_cross_entropy.h"
#include "reference/update.h"

namespace lockstep::gpu {
namespace {

namespace reference = reference;
using reference::PoolShape;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr std::size_t kOverhang = 5;  // work-items that must do nothing

// Items of a kernel that takes 16 floats at a time, and some more.
constexpr std::size_t blocks(std::size_t count) { return (count + LANES - 1) / LANES + kOverhang; }

// All NaNs are one: their bits are outside the law.
std::vector<std::uint32_t> bits_of(std::span<const float> values) {
  std::vector<std::uint32_t> bits;
  for (const float v : values) bits.push_back(std::isnan(v) ? ~0u : std::bit_cast<std::uint32_t>(v));
  return bits;
}

class Draw {
 public:
  explicit Draw(unsigned seed) : engine_(seed) {}
  int whole(int low, int high) { return std::uniform_int_distribution(low, high)(engine_); }
  std::size_t size(int low, int high) { return static_cast<std::size_t>(whole(low, high)); }
  std::uint32_t word() { return static_cast<std::uint32_t>(engine_()); }
  std::vector<float> normal(std::size_t count) {
    std::vector<float> values(count);
    for (float& v : values) v = std::normal_distribution<float>()(engine_);
    return values;
  }
  // Few different numbers, both zeros and sometimes a NaN.
  std::vector<float> with_ties(std::size_t count) {
    constexpr std::array choices{-1.0f, -0.0f, 0.0f, 0.5f, 0.5f, 2.0f};
    std::vector<float> values(count);
    for (float& v : values) v = whole(0, 99) == 0 ? kNan : choices[size(0, choices.size() - 1)];
    return values;
  }
  std::vector<float> any_bits(std::size_t count) {
    std::vector<float> values(count);
    for (float& v : values) v = std::bit_cast<float>(word());
    return values;
  }

 private:
  std::mt19937 engine_;
};

struct Pool {
  PoolShape shape;
  int examples;

  explicit Pool(Draw& draw) : examples(draw.whole(1, 40)) {
    shape.channels = draw.whole(1, 5);
    shape.window_height = draw.whole(1, 4);
    shape.window_width = draw.whole(0, 1) ? shape.window_height : draw.whole(1, 4);
    shape.stride_height = draw.whole(1, 3);
    shape.stride_width = draw.whole(1, 3);
    shape.padding_height = draw.whole(0, shape.window_height - 1);
    shape.padding_width = draw.whole(0, shape.window_width - 1);
    shape.height = draw.whole(shape.window_height, 9);
    shape.width = draw.whole(shape.window_width, 9);
  }
  HostKernels::WindowShape window() const {
    return {shape.channels,
            shape.height,
            shape.width,
            shape.channels,
            shape.out_height(),
            shape.out_width(),
            shape.window_height,
            shape.window_width,
            shape.stride_height,
            shape.stride_width,
            shape.padding_height,
            shape.padding_width,
            arithmetic::pack_count(examples)};
  }
  std::size_t lanes(int height, int width) const {
    return static_cast<std::size_t>(window().packs * shape.channels * height * width);
  }
  std::size_t inputs() const { return lanes(shape.height, shape.width); }
  std::size_t outputs() const { return lanes(shape.out_height(), shape.out_width()); }
  std::size_t of_one(std::size_t lanes_of_all) const {
    return lanes_of_all / static_cast<std::size_t>(window().packs);
  }
  std::size_t count() const { return static_cast<std::size_t>(examples); }
};

std::vector<float> packs_of(std::span<const float> plain, const Pool& pool) {
  return to_packs(plain, pool.count());
}
std::vector<std::uint32_t> plain_bits(std::span<const float> packs, const Pool& pool) {
  return bits_of(from_packs(packs, pool.count()));
}

TEST(SmallKernels, PixelsBecomeFractions) {
  for (const int examples : {1, 16, 37}) {
    constexpr int pixels_of_one = 29;
    Draw draw(1);
    std::vector<std::uint8_t> pixels(static_cast<std::size_t>(examples * pixels_of_one));
    for (std::uint8_t& pixel : pixels) pixel = static_cast<std::uint8_t>(draw.whole(0, 255));
    std::vector<float> expected;
    for (const std::uint8_t pixel : pixels) expected.push_back(static_cast<float>(pixel) / 255.0f);
    expected = to_packs(std::span<const float>(expected), static_cast<std::size_t>(examples));

    std::vector<float> y(expected.size(), kNan);
    const int packs = arithmetic::pack_count(examples);
    run_items(y.size() / LANES + kOverhang, [&](HostKernels& k) {
      k.load_pixels(pixels.data(), y.data(), pixels_of_one, examples, packs);
    });
    EXPECT_EQ(bits_of(y), bits_of(expected));
  }
}

TEST(SmallKernels, ReluAndItsGradient) {
  Draw draw(2);
  const std::vector<float> x = draw.with_ties(333), dy = draw.normal(333);
  std::vector<float> y(333), dx(333);
  run_items(blocks(333), [&](HostKernels& k) { k.relu(x.data(), y.data(), 333); });
  run_items(blocks(333), [&](HostKernels& k) { k.relu_gradient(dy.data(), y.data(), dx.data(), 333); });
  EXPECT_EQ(bits_of(y), bits_of(reference::relu_forward(x)));
  EXPECT_EQ(bits_of(dx), bits_of(reference::relu_gradient(y, dy)));
  std::vector<float> in_place = dy;
  run_items(blocks(333),
            [&](HostKernels& k) { k.relu_gradient(in_place.data(), y.data(), in_place.data(), 333); });
  EXPECT_EQ(bits_of(in_place), bits_of(dx));
}

TEST(SmallKernels, AveragePools) {
  Draw draw(3);
  for (int i = 0; i < 60; ++i) {
    const Pool pool(draw);
    const std::vector<float> x = draw.normal(pool.count() * pool.of_one(pool.inputs()));
    const std::vector<float> dy = draw.normal(pool.count() * pool.of_one(pool.outputs()));
    const std::vector<float> x_packs = packs_of(x, pool), dy_packs = packs_of(dy, pool);
    std::vector<float> y(pool.outputs() * LANES, kNan), dx(pool.inputs() * LANES, kNan);
    run_items(pool.outputs() + kOverhang,
              [&](HostKernels& k) { k.average_pool(x_packs.data(), y.data(), pool.window()); });
    run_items(pool.inputs() + kOverhang,
              [&](HostKernels& k) { k.average_pool_gradient(dy_packs.data(), dx.data(), pool.window()); });
    ASSERT_EQ(plain_bits(y, pool), bits_of(reference::average_pool_forward(pool.shape, pool.examples, x)));
    ASSERT_EQ(plain_bits(dx, pool), bits_of(reference::average_pool_gradient(pool.shape, pool.examples, dy)));
  }
}

TEST(SmallKernels, MaximumPoolsChooseTheFirstOfEquals) {
  Draw draw(4);
  for (int i = 0; i < 60; ++i) {
    const Pool pool(draw);
    const std::vector<float> x = draw.with_ties(pool.count() * pool.of_one(pool.inputs()));
    const std::vector<float> dy = draw.normal(pool.count() * pool.of_one(pool.outputs()));
    const std::vector<float> x_packs = packs_of(x, pool), dy_packs = packs_of(dy, pool);
    std::vector<float> y(pool.outputs() * LANES, kNan), dx(pool.inputs() * LANES, kNan);
    run_items(pool.outputs() + kOverhang,
              [&](HostKernels& k) { k.maximum_pool(x_packs.data(), y.data(), pool.window()); });
    run_items(pool.inputs() + kOverhang, [&](HostKernels& k) {
      k.maximum_pool_gradient(dy_packs.data(), x_packs.data(), dx.data(), pool.window());
    });
    ASSERT_EQ(plain_bits(y, pool), bits_of(reference::max_pool_forward(pool.shape, pool.examples, x)));
    ASSERT_EQ(plain_bits(dx, pool), bits_of(reference::max_pool_gradient(pool.shape, pool.examples, x, dy)));
  }
}

TEST(SmallKernels, UnpoolIsTheGradientOfReluAndPool) {
  Draw draw(5);
  for (int i = 0; i < 20; ++i) {
    Pool pool(draw);
    const PoolShape drawn = pool.shape;
    pool.shape = {drawn.channels, drawn.height + 1, drawn.width + 1, 2, 2, 2, 2};
    const HostKernels::WindowShape s = pool.window();
    const std::vector<float> relu = draw.normal(pool.count() * pool.of_one(pool.inputs()));
    std::vector<float> dy = draw.normal(pool.count() * pool.of_one(pool.outputs()));
    for (float& gradient : dy) gradient = draw.whole(0, 3) == 0 ? -0.0f : gradient;
    const std::vector<float> relu_packs = packs_of(relu, pool), dy_packs = packs_of(dy, pool);
    std::vector<std::uint8_t> mask(pool.outputs() * LANES);
    for (std::size_t at = 0; at < relu_packs.size(); ++at) {
      const int position = static_cast<int>(at / LANES), x = position % s.in_width;
      const int y = position / s.in_width % s.in_height, image = position / s.in_width / s.in_height;
      if (y / 2 >= s.out_height || x / 2 >= s.out_width || !(relu_packs[at] > 0)) continue;
      const int window = (image * s.out_height + y / 2) * s.out_width + x / 2;
      mask[static_cast<std::size_t>(window) * LANES + at % LANES] |=
          static_cast<std::uint8_t>(1 << (y % 2 * 2 + x % 2));
    }
    std::vector<float> dx(pool.inputs() * LANES, kNan);
    run_items(pool.inputs() + kOverhang,
              [&](HostKernels& k) { k.unpool(dy_packs.data(), mask.data(), dx.data(), s); });
    const std::vector<float> before = reference::average_pool_gradient(pool.shape, pool.examples, dy);
    ASSERT_EQ(plain_bits(dx, pool), bits_of(reference::relu_gradient(relu, before)));
  }
}

TEST(SmallKernels, LossAndItsGradient) {
  for (const int examples : {1, 16, 37, 200}) {
    for (const int classes : {1, 2, 10}) {
      Draw draw(6);
      const auto count = static_cast<std::size_t>(examples), width = static_cast<std::size_t>(classes);
      std::vector<float> z = draw.normal(count * width);
      for (float& score : z) score = draw.whole(0, 4) == 0 ? 1.0f : score * 20;
      std::vector<std::uint8_t> labels(count);
      for (std::uint8_t& label : labels) label = static_cast<std::uint8_t>(draw.whole(0, classes - 1));
      const reference::Loss expected = reference::softmax_cross_entropy(classes, z, labels);

      const int packs = arithmetic::pack_count(examples);
      const std::size_t places = static_cast<std::size_t>(packs) * LANES;
      const std::vector<float> z_packs = to_packs(std::span<const float>(z), count);
      std::vector<std::uint8_t> all_labels = labels;
      all_labels.resize(places);
      std::vector<float> losses(places, kNan), sums(places / LANES, kNan), dz(z_packs.size(), kNan);
      std::vector<int> predicted(places);
      for (const int with_gradient : {0, 1}) {
        run_items(places / LANES + kOverhang, [&](HostKernels& k) {
          k.loss(z_packs.data(), all_labels.data(), losses.data(), sums.data(), predicted.data(), dz.data(),
                 classes, examples, packs, with_gradient);
        });
        EXPECT_EQ(std::isnan(dz[0]), with_gradient == 0);
      }
      std::vector<float> all_losses = expected.loss, all_sums;
      all_losses.resize(places);
      for (std::size_t first = 0; first < places; first += LANES) {
        all_sums.push_back(reference::lane_tree(std::span(all_losses).subspan(first, LANES)) + 0.0f);
      }
      int correct = 0;
      for (std::size_t e = 0; e < count; ++e) correct += predicted[e] == labels[e];
      EXPECT_EQ(correct, expected.correct);
      EXPECT_EQ(bits_of(losses), bits_of(all_losses));
      EXPECT_EQ(bits_of(sums), bits_of(all_sums));
      EXPECT_EQ(bits_of(dz), bits_of(to_packs(std::span<const float>(expected.dz), count)));
    }
  }
}

// Two devices hold the packs of a minibatch; the second one's subtrees are in the first one's inbox.
TEST(SmallKernels, SubtreesJoinInThePackTree) {
  constexpr int elements = 21, first = 4, count = 13, examples = 37;
  for (int packs = 1; packs <= 19; ++packs) {
    for (int split = 1; split <= packs; ++split) {
      Draw draw(static_cast<unsigned>(packs));
      std::vector<float> sums = draw.normal(static_cast<std::size_t>(packs * elements));
      for (std::size_t i = 0; i < sums.size(); ++i) {
        if (i % elements % 3 == 0) sums[i] = -0.0f;  // whose sum is +0 when it is finished
      }
      std::vector<float> held(8 * elements, kNan), inbox(8 * elements, kNan), gradient(elements, -7.0f);
      std::vector<arithmetic::PackRange> subtrees;
      std::vector<int> plan;
      for (const arithmetic::PackRange range : {arithmetic::PackRange{0, split}, {split, packs}}) {
        if (range.size() == 0) continue;
        std::vector<int> schedule;
        for (const auto step : arithmetic::join_schedule(packs, range)) {
          schedule.push_back(step.depth);
          schedule.push_back(step.joins);
        }
        std::vector<float>& stack = range.first == 0 ? held : inbox;
        // In two groups of packs.
        const int early = range.size() / 2;
        for (const arithmetic::PackRange group : {arithmetic::PackRange{0, early}, {early, range.size()}}) {
          run_items(blocks(elements), [&](HostKernels& k) {
            k.join_packs(sums.data() + (range.first + group.first) * elements, stack.data(), schedule.data(),
                         elements, group.first, group.size());
          });
        }
        int level = 0;
        for (const arithmetic::PackRange subtree : arithmetic::cover(packs, range)) {
          subtrees.push_back(subtree);
          plan.push_back(range.first == 0 ? 0 : 1);
          plan.push_back(elements * level++ + first);
        }
      }
      const auto pairs = arithmetic::join_pairs(packs, {0, packs}, subtrees);
      for (const arithmetic::JoinPair pair : pairs) {
        plan.push_back(pair.into);
        plan.push_back(pair.from);
      }
      run_items(blocks(count), [&](HostKernels& k) {
        k.join(held.data(), inbox.data(), plan.data(), gradient.data(), first, count,
               static_cast<int>(subtrees.size()), static_cast<int>(pairs.size()), examples);
      });
      for (int e = 0; e < elements; ++e) {
        std::vector<float> of_packs;
        for (int p = 0; p < packs; ++p) of_packs.push_back(sums[static_cast<std::size_t>(p * elements + e)]);
        const bool inside = first <= e && e < first + count;
        const float mean = (reference::pack_tree(of_packs) + 0.0f) / static_cast<float>(examples);
        ASSERT_THAT(gradient[static_cast<std::size_t>(e)], SameBits(inside ? mean : -7.0f))
            << packs << ' ' << split;
      }
    }
  }
}

TEST(SmallKernels, WhatIsNotFiniteIsFound) {
  for (const float value : {kNan, kInfinity, -kInfinity, std::numeric_limits<float>::max()}) {
    for (std::size_t at = 0; at < 30; ++at) {
      std::vector<float> g(30, -1e-40f);
      g[at] = value;
      int bad = 0;
      run_items(blocks(20), [&](HostKernels& k) { k.check_finite(g.data(), &bad, 7, 20); });
      EXPECT_EQ(bad, !std::isfinite(value) && 7 <= at && at < 27 ? 1 : 0) << value << ' ' << at;
    }
  }
}

TEST(SmallKernels, UpdatesTouchTheirRangeOnly) {
  Draw draw(8);
  const std::vector<float> before = draw.normal(50), g = draw.normal(50), v_before = draw.normal(50);
  std::vector<float> w = before, expected = before;
  run_items(blocks(40), [&](HostKernels& k) { k.sgd(w.data(), g.data(), 3, 40, 0.3f); });
  reference::sgd(std::span(expected).subspan(3, 40), std::span(g).subspan(3, 40), 0.3f);
  EXPECT_EQ(bits_of(w), bits_of(expected));

  std::vector<float> v = v_before, v_expected = v_before;
  run_items(blocks(40),
            [&](HostKernels& k) { k.momentum_sgd(w.data(), v.data(), g.data(), 5, 40, 0.3f, 0.9f); });
  reference::momentum_sgd(std::span(expected).subspan(5, 40), std::span(v_expected).subspan(5, 40),
                          std::span(g).subspan(5, 40), {0.3f, 0.9f});
  EXPECT_EQ(bits_of(w), bits_of(expected));
  EXPECT_EQ(bits_of(v), bits_of(v_expected));
}

TEST(SmallKernels, Fill) {
  std::vector<float> to(50, 1.0f), expected(50, 1.0f);
  std::fill_n(expected.begin(), 21, -2.5f);
  run_items(blocks(21), [&](HostKernels& k) { k.fill(to.data(), 21, -2.5f); });
  EXPECT_THAT(to, SameBits(expected));
}

// Every order of special values, then any bits.
TEST(SmallKernels, ProbesShowEveryOperation) {
  constexpr std::array special{0.0f, -0.0f,     1.0f,       -1.0f, 1e-40f, -1e-45f, 0x1p-126f,
                               3.0f, kInfinity, -kInfinity, kNan,  3e38f,  88.7f,   -103.5f};
  Draw draw(10);
  constexpr int count = 16 * 1024;
  std::vector<float> a = draw.any_bits(count), b = draw.any_bits(count), c = draw.any_bits(count);
  std::size_t at = 0;
  for (const float x : special) {
    for (const float y : special) {
      for (const float z : special) {
        a[at] = x;
        b[at] = y;
        c[at++] = z;
      }
    }
  }
  std::vector<float> out(10 * count), lanes_out(11 * count), expected(10 * count), lanes_expected(11 * count);
  run_elements(count + kOverhang,
               [&](HostKernels& k) { k.probe_arithmetic(a.data(), b.data(), c.data(), out.data(), count); });
  run_items(count / LANES + kOverhang,
            [&](HostKernels& k) { k.probe_lanes(a.data(), b.data(), c.data(), lanes_out.data(), count); });
  for (std::size_t i = 0; i < count; ++i) {
    const float x = a[i], y = b[i], z = c[i], product = y * z, other = x * z;
    const std::array results{x + y,
                             x * y,
                             std::fma(x, y, z),
                             x / y,
                             std::sqrt(x),
                             arithmetic::exp_law(x),
                             arithmetic::log_law(x),
                             product + x,
                             static_cast<float>(std::bit_cast<std::int32_t>(x)),
                             static_cast<float>(std::bit_cast<std::uint32_t>(x) & 255U) / 255.0f};
    for (std::size_t o = 0; o < results.size(); ++o) expected[o * count + i] = results[o];
    const std::array in_lanes{x + y,
                              x * y,
                              std::fma(x, y, z),
                              x / y,
                              arithmetic::exp_law(x),
                              arithmetic::log_law(x),
                              product + x,
                              other + 0.0f,
                              x > 0 || std::isnan(x) ? x : 0.0f,
                              y > x || (std::isnan(y) && !std::isnan(x)) ? y : x,
                              std::isfinite(x) ? 0.0f : 1.0f};
    for (std::size_t o = 0; o < in_lanes.size(); ++o) lanes_expected[o * count + i] = in_lanes[o];
  }
  EXPECT_EQ(bits_of(out), bits_of(expected));
  EXPECT_EQ(bits_of(lanes_out), bits_of(lanes_expected));
}

TEST(SmallKernels, TheSpeedProbeComputesItsChains) {
  constexpr std::size_t kItems = 8;  // whole groups: this kernel has no range to guard
  std::vector<float> out(kItems * LANES);
  run_items(kItems, [&](HostKernels& k) { k.fma_rate(out.data(), 5); });
  for (std::size_t item = 0; item < kItems; ++item) {
    float sum = 0;
    for (std::size_t chain = 0; chain < HostKernels::kFmaRateChains; ++chain) {
      auto value = static_cast<float>(item + chain);
      for (int round = 0; round < 5; ++round) value = std::fma(value, 0.75f, 0.25f);
      sum = chain == 0 ? value : sum + value;
    }
    for (std::size_t lane = 0; lane < LANES; ++lane) EXPECT_THAT(out[item * LANES + lane], SameBits(sum));
  }
}

}  // namespace
}  // namespace lockstep::gpu
