#include "cpu/tiling.h"

#include <gtest/gtest.h>

namespace lockstep::cpu {
namespace {

TEST(Balanced, MakesTheFewestPartsAsEqualAsCanBe) {
  EXPECT_EQ(balanced(50, 8), (std::vector<int>{0, 7, 14, 21, 28, 35, 42, 50}));
  EXPECT_EQ(balanced(5, 5), (std::vector<int>{0, 5}));
  EXPECT_EQ(balanced(7, 4), (std::vector<int>{0, 3, 7}));
  EXPECT_EQ(balanced(1, 16), (std::vector<int>{0, 1}));
}

// A row whose tiles fit by the rule of simd/tap_tile.h.
Kernels row(int lanes, int registers) {
  Kernels kernels{};
  kernels.lanes = lanes;
  kernels.registers = registers;
  for (int c = 1; c <= kMaxTileChannels; ++c) {
    for (int p = 1; p <= kMaxTilePositions; ++p) {
      if ((c + 2) * p * (kPack / lanes) + 2 > registers) continue;
      kernels.tap_tile[static_cast<std::size_t>(c)][static_cast<std::size_t>(p)] = [](const TapTileJob&) {};
    }
  }
  return kernels;
}

TEST(ChooseTile, FillsTheRegistersOfEachInstructionSet) {
  const Kernels avx512 = row(16, 32), avx2 = row(8, 16);
  const TileSize wide = choose_tile(avx512, 50, 8);
  EXPECT_EQ(wide.channels, 5);
  EXPECT_EQ(wide.positions, 4);
  const TileSize single = choose_tile(avx512, 128, 1);
  EXPECT_EQ(single.positions, 1);
  EXPECT_GE(single.channels, 16);
  const TileSize narrow = choose_tile(avx2, 50, 8);
  EXPECT_EQ(narrow.channels, 5);
  EXPECT_EQ(narrow.positions, 1);
  EXPECT_EQ(most_tile_channels(avx2, 2), 1);
  EXPECT_EQ(most_tile_channels(avx2, 3), 0);
}

TEST(ChooseBlock, KeepsTheInputInTheRoom) {
  const BlockRequest conv2{20, 12, 12, 8, 8, 5, 5, 1, 1, 2};
  for (const std::size_t room : {8U << 10, 24U << 10, 96U << 10, 1U << 20}) {
    const BlockSize block = choose_block(conv2, room);
    EXPECT_EQ(block.rows % 2, 0);
    EXPECT_EQ(block.columns, 8);
    const std::size_t bytes =
        static_cast<std::size_t>(block.channels * (block.rows + 4) * 12) * kPack * sizeof(float);
    EXPECT_TRUE(bytes <= room || block.channels == 1) << room;
  }
  EXPECT_EQ(choose_block(conv2, 1U << 20).channels, 20);
}

TEST(ChooseBlock, TakesASmallLayerWhole) {
  const BlockSize block = choose_block({3, 2, 2, 1, 1, 2, 2, 1, 1, 4}, 16U << 10);
  EXPECT_EQ(block.channels, 3);
  EXPECT_EQ(block.rows, 1);
  EXPECT_EQ(block.columns, 1);
}

}  // namespace
}  // namespace lockstep::cpu
