// The transforms alone: constants, orders that a 1 beside 2^30 shows, and every rounding.
#include "reference/toom_cook.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <utility>

#include <gtest/gtest.h>

#include "arithmetic/winograd_constants.h"
#include "base/same_bits_for_test.h"

namespace lockstep::reference {
namespace {

constexpr float kBig = 0x1p+30f;  // swallows a 1 that is added to it

template <int N>
void expect_the_tables_constants(const ToomCook& twin) {
  using Table = arithmetic::WinogradConstants<N>;
  EXPECT_EQ(twin.frequencies(), std::size_t{N});
  EXPECT_THAT(twin.scale, SameBits(Table::scale0));
  EXPECT_THAT(twin.z, SameBits(Line(std::begin(Table::z), std::end(Table::z))));
  for (std::size_t i = 0; i < Table::kPairs; ++i) {
    const auto line = [i](const auto& rows) { return Line(std::begin(rows[i]), std::end(rows[i])); };
    EXPECT_THAT(twin.pairs[i].scale, SameBits(Table::scale[i]));
    EXPECT_THAT(twin.pairs[i].power, SameBits(line(Table::power)));
    EXPECT_THAT(twin.pairs[i].q, SameBits(line(Table::q)));
    EXPECT_THAT(twin.pairs[i].pq, SameBits(line(Table::pq)));
    EXPECT_THAT(twin.pairs[i].scaled_power, SameBits(line(Table::scaled_power)));
  }
}

TEST(ToomCook, DerivesTheTablesConstants) {
  expect_the_tables_constants<4>({2, 3});
  expect_the_tables_constants<6>({4, 3});
  expect_the_tables_constants<6>({2, 5});
  expect_the_tables_constants<8>({4, 5});
  expect_the_tables_constants<9>({7, 3});
}

// Eight frequencies, points 1, 1/2 and 2.
const ToomCook& eight() {
  static const ToomCook toom_cook(4, 5);
  return toom_cook;
}

// f+ and f- of the first pair, whose point is 1.
std::pair<float, float> first_pair(const Line& f) { return {f[1], f[2]}; }

TEST(ToomCook, EvaluatesFromTheLowestPower) {
  const auto values = [](const Line& y) { return first_pair(eight().of_weights(y)); };
  const float s = eight().pairs[0].scale;
  EXPECT_EQ(values({kBig, 0, -kBig, 0, 1}), std::pair(s, s));
  EXPECT_EQ(values({1, 0, kBig, 0, -kBig}), std::pair(0.0f, 0.0f));
  EXPECT_EQ(values({kBig, 1, -kBig, 0, 0}), std::pair(s, -s));  // even powers meet before odd ones join
  const Line f = eight().of_output_gradient({0, kBig, 1, -kBig});
  EXPECT_EQ(first_pair(f), std::pair(1.0f, 1.0f));
}

TEST(ToomCook, ScalesWeightsAfterEvaluation) {
  constexpr float kLargest = std::numeric_limits<float>::max();
  EXPECT_THAT(eight().of_weights({kLargest, 0, kLargest, 0, 0})[1],
              SameBits(-std::numeric_limits<float>::infinity()));
}

TEST(ToomCook, TransformsInputFromTheHighestPower) {
  const float z = 21.0f / 4;  // Z = z^3 - 21/4 z^2 + 21/4 z - 1
  Line f = eight().of_input({-1, 0, 0, 0, kBig, 0, kBig * z, 0});
  EXPECT_THAT(f.front(), SameBits(1.0f));
  f = eight().of_input({0, 0, kBig, 0, kBig, 0, -1, 0});
  EXPECT_THAT(f.front(), SameBits(0.0f));
  f = eight().of_input({0, -1, 0, 0, 0, kBig, 0, kBig * z});
  EXPECT_THAT(f.back(), SameBits(1.0f));
  const float q = 17.0f / 4;  // Q_1 = z^2 - 17/4 z + 1
  f = eight().of_input({0, 0, 1, 0, kBig, 0, kBig * q, 0});
  EXPECT_EQ(first_pair(f), std::pair(1.0f, 1.0f));
  f = eight().of_input({0, 1, 0, kBig, 0, kBig * q, 0, 0});
  EXPECT_EQ(first_pair(f), std::pair(1.0f, -1.0f));
  f = eight().of_input({0, 0, 0, kBig, 1, kBig * q, 0, 0});
  EXPECT_EQ(first_pair(f), std::pair(-q, -q));
}

TEST(ToomCook, GoesBackOverThePairsThenTheEnds) {
  // frequencies 0, +1, -1, +1/2, -1/2, +2, -2, infinity
  EXPECT_THAT(eight().output({1, kBig, 0, -kBig, 0, 0, 0, 0})[0], SameBits(1.0f));
  EXPECT_THAT(eight().output({kBig, -kBig, 0, 1, 0, 0, 0, 0})[0], SameBits(0.0f));
  EXPECT_THAT(eight().output({0, kBig, 0, 1, 0, -kBig, 0, 0})[0], SameBits(0.0f));
  EXPECT_THAT(eight().output({0, kBig, 0, -8 * kBig, 0, 0, 0, 1})[3], SameBits(1.0f));
  EXPECT_THAT(eight().output({0, 8, 0, kBig, 0, 0, 0, -kBig / 8})[3], SameBits(0.0f));
  EXPECT_THAT(eight().output({0, kBig, 1, -kBig, 0, 0, 0, 0})[0],
              SameBits(0.0f));  // a pair's two values meet first
}

TEST(ToomCook, GoesBackToInputGradientsOverThePairsThenTheEnds) {
  // x_6 = S_1 + S_2 + S_3 + f_0; x_5 = D_1 + D_2 / 2 + 2 D_3 - 21/4 f_inf
  EXPECT_THAT(eight().input_gradient({1, kBig, 0, -kBig, 0, 0, 0, 0})[6], SameBits(1.0f));
  EXPECT_THAT(eight().input_gradient({kBig, -kBig, 0, 1, 0, 0, 0, 0})[6], SameBits(0.0f));
  EXPECT_THAT(eight().input_gradient({0, kBig, 0, 1, 0, -kBig, 0, 0})[6], SameBits(0.0f));
  EXPECT_THAT(eight().input_gradient({0, kBig, 1, -2 * kBig, 0, 0, 0, 0})[5], SameBits(0.0f));
  EXPECT_THAT(eight().input_gradient({0, kBig, 0, -2 * kBig, 0, 0, 0, 4})[5], SameBits(-21.0f));
}

// Nine frequencies, points 1/2, 7/8, 3/2 and 4, and none at infinity: the last stands for -4.
TEST(ToomCook, HasNoInfinityIfFrequenciesAreOdd) {
  const ToomCook nine(7, 3);
  EXPECT_THAT(nine.of_weights({0, 0, 1}).back(), SameBits(nine.pairs[3].scale * 16));
  EXPECT_THAT(nine.of_output_gradient({0, 0, 0, 0, 0, 0, 1}).back(), SameBits(4096.0f));
  EXPECT_THAT(nine.of_input({0, 0, 0, 0, 0, 0, 0, 0, 1}), SameBits(Line(9, 1)));
  EXPECT_THAT(nine.output({0, 0, 0, 0, 0, 0, 0, 0, 1}), SameBits(Line{1, -4, 16, -64, 256, -1024, 4096}));
  EXPECT_THAT(nine.weight_gradient({0, 0, 0, 0, 0, 0, 0, 0, 1})[2], SameBits(nine.pairs[3].scale * 16));
  EXPECT_THAT(nine.input_gradient({0, 0, 0, 0, 0, 0, 0, 0, 1})[7], SameBits(-4.0f));
  EXPECT_THAT(nine.input_gradient({1, 0, 0, 0, 0, 0, 0, 0, 0})[8], SameBits(1.0f));
}

TEST(ToomCook, TransformsColumnsBeforeRows) {
  Plane plane(8, Line(8));
  plane[6][6] = kBig * 21 / 4, plane[4][6] = kBig, plane[6][0] = -1;  // the column's two values cancel
  EXPECT_THAT(eight().in_two_dimensions(&ToomCook::of_input, plane)[0][0], SameBits(1.0f));
  plane[4][6] = 0, plane[6][4] = kBig, plane[6][0] = 0, plane[0][6] = -1;  // so would the row's
  EXPECT_THAT(eight().in_two_dimensions(&ToomCook::of_input, plane)[0][0], SameBits(0.0f));
}

// A hundred lines of numbers without pattern, so that a rounding left out, added or moved shows.
std::uint64_t fingerprint(const ToomCook& toom_cook, ToomCook::Transform transform, int size) {
  std::uint64_t print = 0;
  for (int first = 0; first < 100 * size; first += size) {
    Line line;
    line.reserve(static_cast<std::size_t>(size));
    for (int i = first; i < first + size; ++i) {
      line.push_back(static_cast<float>(2 * (i * 37 % 101) - 101) / static_cast<float>(i * 53 % 97 + 1));
    }
    for (const float value : (toom_cook.*transform)(line)) {
      print = print * 31 + std::bit_cast<std::uint32_t>(value);
    }
  }
  return print;
}

using Fingerprints = std::array<std::uint64_t, 6>;
Fingerprints fingerprints(int tile, int kernel) {
  const ToomCook toom_cook(tile, kernel);
  const int frequencies = tile + kernel - 1;
  return {fingerprint(toom_cook, &ToomCook::of_output_gradient, tile),
          fingerprint(toom_cook, &ToomCook::of_weights, kernel),
          fingerprint(toom_cook, &ToomCook::of_input, frequencies),
          fingerprint(toom_cook, &ToomCook::output, frequencies),
          fingerprint(toom_cook, &ToomCook::weight_gradient, frequencies),
          fingerprint(toom_cook, &ToomCook::input_gradient, frequencies)};
}

// What the law's text gives in exact rationals, rounded after each of its steps.
TEST(ToomCook, RoundsWhereTheLawSays) {
  EXPECT_EQ(fingerprints(2, 3),
            (Fingerprints{0x105643551ccceadau, 0x566b87c633f89ff7u, 0x98f82b74643d1d53u, 0x1b94458acc88aa2fu,
                          0xfbeddb65815d763fu, 0xc7d8737738d2518cu}));
  EXPECT_EQ(fingerprints(4, 3), (Fingerprints{0x3d56828d4cfe3483u, 0xd3c79a112baed6a3u, 0x99cdb81fa87a4999u,
                                              0xdb20e5241805eb1u, 0x9f27f865d0522ffdu, 0x3a537ac8b23ef43fu}));
  EXPECT_EQ(fingerprints(2, 5),
            (Fingerprints{0x545e616b0ba39afbu, 0x8e122aecf0d2ced3u, 0x99cdb81fa87a4999u, 0x9a6302374e3b218bu,
                          0xcde1ec026d6664ccu, 0x3a537ac8b23ef43fu}));
  EXPECT_EQ(fingerprints(4, 5), (Fingerprints{0xe942ec0eeaa212fdu, 0x5087e7d78895b388u, 0xd7b032aa8d8b1705u,
                                              0xf045d517da77afceu, 0xff3616f62720921u, 0xc97202031a3a4295u}));
  EXPECT_EQ(fingerprints(7, 3),
            (Fingerprints{0x81bc2112d5a0ceacu, 0x124064560e6fdf5eu, 0x2fa96a57835a8770u, 0x26d1664ef28449ffu,
                          0x94a1ac7446db1a71u, 0x98430c44bdcded3eu}));
}

}  // namespace
}  // namespace lockstep::reference
