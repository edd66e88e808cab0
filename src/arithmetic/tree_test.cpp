#include "arithmetic/tree.h"

#include <cstdint>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/same_bits_for_test.h"

namespace lockstep::arithmetic {
namespace {

// Sums of these depend on the order: full mantissas, magnitudes spread over 2^8, both signs.
float sum_of_pack(int pack) {
  std::uint32_t hash = static_cast<std::uint32_t>(pack + 1) * 2654435761u;
  hash = (hash ^ (hash >> 15)) * 2246822519u;
  const float size = static_cast<float>(1u << (hash >> 29)) * static_cast<float>(hash & 0xffffffu);
  return (hash & (1u << 24)) != 0 ? -size : size;
}

float sum_of(PackRange node) {
  if (node.size() == 1) return sum_of_pack(node.first);
  int left = 1;
  while (left * 2 < node.size()) left *= 2;
  return sum_of({node.first, node.first + left}) + sum_of({node.first + left, node.last});
}

std::vector<float> run_schedule(int packs, PackRange held) {
  std::vector<float> stack;
  const std::vector<JoinStep> steps = join_schedule(packs, held);
  EXPECT_EQ(static_cast<int>(steps.size()), held.size());
  for (int pack = held.first; pack < held.last; ++pack) {
    const JoinStep step = steps[static_cast<std::size_t>(pack - held.first)];
    EXPECT_EQ(static_cast<int>(stack.size()), step.depth);
    float value = sum_of_pack(pack);
    for (int join = 0; join < step.joins; ++join) {
      value = stack.back() + value;
      stack.pop_back();
    }
    stack.push_back(value);
  }
  return stack;
}

std::vector<float> sums_of(const std::vector<PackRange>& subtrees) {
  std::vector<float> sums;
  for (const PackRange& subtree : subtrees) sums.push_back(sum_of(subtree));
  return sums;
}

constexpr int kMostPacks = 40;

TEST(LaneTree, AddsHalvesThenQuarters) {
  std::array<float, kPack> lanes{};
  for (int i = 0; i < kPack; ++i) lanes[static_cast<std::size_t>(i)] = sum_of_pack(i);
  const auto at = [&](int i) { return lanes[static_cast<std::size_t>(i)]; };
  const auto pair = [&](int i) { return at(i) + at(i + 8); };
  const auto four = [&](int i) { return pair(i) + pair(i + 4); };
  EXPECT_THAT(lane_tree(lanes), SameBits((four(0) + four(2)) + (four(1) + four(3))));

  float chain = 0;
  for (const float lane : lanes) chain += lane;
  EXPECT_NE(lane_tree(lanes), chain) << "the numbers do not tell orders apart";
}

TEST(PackTree, LeftPartIsTheLargestPowerOfTwoStrictlyBelow) {
  const std::vector<int> expected{1, 2, 2, 4, 4, 4, 4, 8, 8};
  for (int q = 2; q <= 10; ++q) EXPECT_EQ(left_size(q), expected[static_cast<std::size_t>(q - 2)]) << q;
  EXPECT_EQ(left_size(4096), 2048);
  EXPECT_EQ(left_size(4097), 4096);
  EXPECT_THROW(left_size(1), Error);
}

TEST(PackTree, CoverNamesMaximalSubtrees) {
  EXPECT_EQ(cover(16, {0, 16}), (std::vector<PackRange>{{0, 16}}));
  EXPECT_EQ(cover(16, {3, 9}), (std::vector<PackRange>{{3, 4}, {4, 8}, {8, 9}}));
  EXPECT_EQ(cover(7, {4, 7}), (std::vector<PackRange>{{4, 7}}));
  EXPECT_EQ(cover(7, {5, 7}), (std::vector<PackRange>{{5, 6}, {6, 7}}));
  EXPECT_TRUE(cover(7, {3, 3}).empty());
  EXPECT_THROW(cover(7, {3, 8}), Error);
}

TEST(PackTree, ScheduleLeavesTheCoverOnTheStack) {
  for (int packs = 1; packs <= kMostPacks; ++packs) {
    for (int first = 0; first < packs; ++first) {
      for (int last = first + 1; last <= packs; ++last) {
        const PackRange held{first, last};
        ASSERT_THAT(run_schedule(packs, held), SameBits(sums_of(cover(packs, held))))
            << packs << " packs, [" << first << ", " << last << ")";
      }
    }
  }
}

// Three holders with every pair of cuts.
TEST(PackTree, PairsFinishTheTreeHoweverPacksAreDealt) {
  int differs_from_chain = 0;
  for (int packs = 1; packs <= kMostPacks; ++packs) {
    const float expected = sum_of({0, packs});
    for (int cut = 0; cut <= packs; ++cut) {
      for (int cut2 = cut; cut2 <= packs; ++cut2) {
        std::vector<PackRange> subtrees;
        std::vector<float> values;
        for (const PackRange& held : {PackRange{0, cut}, PackRange{cut, cut2}, PackRange{cut2, packs}}) {
          const std::vector<PackRange> mine = cover(packs, held);
          const std::vector<float> sums = run_schedule(packs, held);
          subtrees.insert(subtrees.end(), mine.begin(), mine.end());
          values.insert(values.end(), sums.begin(), sums.end());
        }
        for (const JoinPair& pair : join_pairs(packs, {0, packs}, subtrees)) {
          values[static_cast<std::size_t>(pair.into)] += values[static_cast<std::size_t>(pair.from)];
        }
        ASSERT_THAT(values[0], SameBits(expected)) << packs << " packs cut at " << cut << " and " << cut2;
      }
    }
    float chain = 0;
    for (int pack = 0; pack < packs; ++pack) chain += sum_of_pack(pack);
    differs_from_chain += chain != expected ? 1 : 0;
  }
  EXPECT_GT(differs_from_chain, kMostPacks / 2) << "the numbers do not tell orders apart";
}

TEST(PackTree, PairsOfSinglePacksAreTheWholeTree) {
  const std::vector<PackRange> singles{{0, 1}, {1, 2}, {2, 3}};
  EXPECT_EQ(join_pairs(3, {0, 3}, singles), (std::vector<JoinPair>{{0, 1}, {0, 2}}));
  EXPECT_TRUE(join_pairs(3, {0, 3}, std::vector<PackRange>{{0, 3}}).empty());
}

TEST(PackTree, PairsRefuseWhatIsNoCover) {
  EXPECT_THROW(join_pairs(4, {0, 4}, std::vector<PackRange>{{0, 2}}), Error);          // packs missing
  EXPECT_THROW(join_pairs(4, {0, 4}, std::vector<PackRange>{{0, 3}, {3, 4}}), Error);  // not a subtree
  EXPECT_THROW(join_pairs(2, {0, 2}, std::vector<PackRange>{{0, 2}, {2, 3}}), Error);  // too many
}

}  // namespace
}  // namespace lockstep::arithmetic
