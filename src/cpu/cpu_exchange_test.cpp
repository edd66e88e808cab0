// What a CPU device does for exchanges that no training of today has: activations that travel, and joins of
// statistics and maxima.
#include <algorithm>
#include <cstring>
#include <numeric>

#include <gtest/gtest.h>

#include "base/same_bits_for_test.h"
#include "cpu/cpu_device.h"
#include "device/steps_for_test.h"

namespace lockstep::cpu {
namespace {

using program::Join;
using program::Role;
using program::Segment;

// Packs 2, 3 and 4 of five: every pack lies in the place of its own, wherever the share begins.
TEST(CpuExchange, APackOfActivationsIsTheOneOfItsNumber) {
  constexpr int kPacks = 5, kFirst = 2;
  constexpr std::size_t kPixels = 3, kLanes = arithmetic::kPack;
  enum { x, labels };
  program::Program p;
  p.purpose = program::Purpose::replay;
  p.packs = kPacks;
  p.input = {3, 1, 1};
  p.buffers = {{"x", Role::activation, kPixels}, {"labels", Role::labels, 1}};
  p.segments = {
      {"packs", Segment::Over::packs, {{program::Load{{3, 1, 1}}, "x", {}, {x, labels}}}, {kFirst, kPacks}}};
  for (int pack = kFirst; pack < kPacks; ++pack)
    p.exchange.push_back({program::Send{1, {x, 0, kPixels, pack}}});
  std::vector<std::uint8_t> pixels(kPacks * kLanes * kPixels), classes(kPacks * kLanes, 0);
  std::iota(pixels.begin(), pixels.end(), std::uint8_t{0});
  std::vector<std::uint32_t> order(kPacks * kLanes);
  std::iota(order.begin(), order.end(), 0U);
  for (const int threads : {1, 2}) {
    const auto device = make_cpu_device({.threads = threads});
    const auto executable = device->load(p, {.most_packs = kPacks - kFirst, .alone = false});
    device::Signals signals;
    executable->begin(0);
    executable->run(0, {{pixels.data(), classes.data(), order}}, signals);
    for (std::size_t pack = kFirst; pack < kPacks; ++pack) {
      std::vector<float> expected, found(kPixels * kLanes);
      for (std::size_t i = 0; i < kPixels; ++i) {
        for (std::size_t lane = 0; lane < kLanes; ++lane)
          expected.push_back(static_cast<float>(pixels[(pack * kLanes + lane) * kPixels + i]) / 255.0f);
      }
      const std::span<std::byte> bytes = executable->bytes({{x, 0, kPixels, static_cast<int>(pack)}});
      ASSERT_EQ(bytes.size(), found.size() * sizeof(float));
      std::memcpy(found.data(), bytes.data(), bytes.size());
      EXPECT_THAT(found, SameBits(expected)) << "pack " << pack << ", " << threads << " threads";
    }
  }
}

// What a device makes of two sets of numbers that lie in its inbox.
std::vector<float> joined(Join::Operator op, const std::vector<float>& left, const std::vector<float>& right,
                          int threads) {
  enum { inbox, result };
  const std::size_t count = left.size();
  program::Program p;
  p.purpose = program::Purpose::replay;
  p.packs = 1;
  p.input = {1, 1, 1};
  p.buffers = {{"inbox", Role::inbox, 2 * count}, {"result", Role::gradient, count}};
  p.segments = {{"packs", Segment::Over::packs, {}, {0, 1}}};
  const Join join{op, {{inbox, 0, count}, {inbox, count, count}}, {{0, 1}}, {result, 0, count}};
  p.exchange = {{join}};
  const auto device = make_cpu_device({.threads = threads});
  const auto executable = device->load(p, {.most_packs = 1, .order = device::Order::layer, .alone = false});
  executable->begin(0);
  std::memcpy(executable->bytes({join.inputs[0]}).data(), left.data(), count * sizeof(float));
  std::memcpy(executable->bytes({join.inputs[1]}).data(), right.data(), count * sizeof(float));
  executable->join({&join, 1}, {});
  std::vector<float> found(count);
  executable->download(result, found);
  return found;
}

// [3][channels]: more channels than a thread adds at once. Each has 0 and 2 on the left, six times 5 + c on
// the right.
TEST(CpuExchange, StatisticsMeetChannelByChannelOnAnyNumberOfThreads) {
  constexpr std::size_t kChannels = 1500;
  std::vector<float> left, right, expected;
  const auto append = [](std::vector<float>& to, auto value_of) {
    for (std::size_t c = 0; c < kChannels; ++c) to.push_back(value_of(static_cast<float>(c)));
  };
  append(left, [](float) { return 2.0f; });
  append(left, [](float) { return 1.0f; });
  append(left, [](float) { return 2.0f; });
  append(right, [](float) { return 6.0f; });
  append(right, [](float c) { return 5.0f + c; });
  append(right, [](float) { return 0.0f; });
  append(expected, [](float) { return 8.0f; });
  append(expected, [](float c) { return 4.0f + 0.75f * c; });
  append(expected, [](float c) { return 2.0f + 1.5f * (4.0f + c) * (4.0f + c); });
  for (const int threads : {1, 2, 3})
    EXPECT_THAT(joined(Join::Operator::statistics, left, right, threads), SameBits(expected)) << threads;
}

TEST(CpuExchange, AMaximumIsTheLargerOfEachPair) {
  std::vector<float> left, right, expected;
  for (int i = 0; i < 2500; ++i) {
    left.push_back(static_cast<float>(i * 7 % 101));
    right.push_back(static_cast<float>(i * 13 % 89));
    expected.push_back(std::max(left.back(), right.back()));
  }
  for (const int threads : {1, 3})
    EXPECT_THAT(joined(Join::Operator::maximum, left, right, threads), SameBits(expected)) << threads;
}

}  // namespace
}  // namespace lockstep::cpu
