#include "base/hash.h"

#include <utility>

#include <gtest/gtest.h>

namespace lockstep {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

// Expected values are those of xxHash's own specification for the empty input with seed 0.
TEST(Hash, EmptyInputIsThePublishedValue) {
  EXPECT_EQ(to_hex(hash128({})), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(hash64(""), 0x2d06800538d394c2u);
}

TEST(Hash, HexIsBigEndianWithLeadingZeros) {
  EXPECT_EQ(to_hex({.high = 0x1, .low = 0xabcdef}), "00000000000000010000000000abcdef");
}

TEST(Hash, HexComesBack) {
  for (const Hash128& hash : {Hash128{}, Hash128{.high = 0x1, .low = 0xabcdef},
                              Hash128{.high = ~std::uint64_t{0}, .low = std::uint64_t{1} << 63}})
    EXPECT_EQ(from_hex(to_hex(hash)), hash);
}

TEST(Hash, OnlyItsOwnHexIsTaken) {
  const std::string hex = "0123456789abcdef0123456789abcdef";
  ASSERT_TRUE(from_hex(hex));
  for (const std::string_view text :
       {"", "0123", "0123456789ABCDEF0123456789abcdef", "0123456789abcdeg0123456789abcdef",
        "-123456789abcdef0123456789abcdef", "0123456789abcdef 123456789abcdef"})
    EXPECT_FALSE(from_hex(text)) << text;
  EXPECT_FALSE(from_hex(hex + "0"));
  EXPECT_FALSE(from_hex(std::string_view(hex).substr(1)));
}

TEST(Hash, PiecesHashAsOne) {
  const std::string text(5000, 'x');
  const std::string_view view = text;
  for (const std::size_t cut : {0u, 1u, 240u, 241u, 1024u, 5000u}) {
    Hasher128 hasher;
    hasher.add(bytes_of(view.substr(0, cut)));
    hasher.add(bytes_of(view.substr(cut)));
    EXPECT_EQ(hasher.digest(), hash128(bytes_of(view))) << cut;
  }
}

TEST(Hash, DigestDoesNotEndTheHasher) {
  Hasher128 hasher;
  hasher.add(bytes_of("ab"));
  EXPECT_EQ(hasher.digest(), hash128(bytes_of("ab")));
  Hasher128 moved = std::move(hasher);
  moved.add(bytes_of("c"));
  EXPECT_EQ(moved.digest(), hash128(bytes_of("abc")));
}

TEST(Hash, OneBitChangesIt) { EXPECT_NE(hash128(bytes_of("lockstep")), hash128(bytes_of("lockstdp"))); }

}  // namespace
}  // namespace lockstep
