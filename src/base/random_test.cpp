#include "base/random.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

using Words = std::array<std::uint32_t, 4>;

// The vectors published with Random123 (kat_vectors, philox4x32 10).
TEST(Philox, GivesThePublishedWords) {
  constexpr std::uint32_t ones = 0xffffffff;
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({ones, ones, ones, ones}, {ones, ones}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(RandomBlock, PlacesItsArgumentsInCounterAndKey) {
  EXPECT_EQ(random_block(0x299f31d0a4093822, 0x85a308d3243f6a88, 0x13198a2e, 0x03707344),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

// XXH3_64("") is 2d06800538d394c2, published with xxHash.
TEST(StreamId, IsTheLowHalfOfTheHash) { EXPECT_EQ(stream_id(""), 0x38d394c2u); }

TEST(StreamId, DiffersByPurposeAndName) {
  EXPECT_NE(stream_id("init:conv1.weight"), stream_id("init:conv2.weight"));
  EXPECT_NE(stream_id("init:conv1.weight"), stream_id("shuffle:conv1.weight"));
}

}  // namespace
}  // namespace lockstep
