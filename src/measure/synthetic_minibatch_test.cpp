#include "measure/synthetic_minibatch.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace lockstep::measure {
namespace {

TEST(SyntheticMinibatch, HoldsWhatAStepReads) {
  const SyntheticMinibatch minibatch({1, 28, 28}, 10, 32);
  const device::Minibatch& m = minibatch.step_input().minibatch;
  ASSERT_EQ(m.examples.size(), 32U);
  for (std::size_t i = 0; i < 32; ++i) {
    EXPECT_EQ(m.examples[i], i);
    EXPECT_EQ(m.labels[i], i % 10);
  }
  EXPECT_EQ(minibatch.examples(), 32);
}

TEST(SyntheticMinibatch, PixelsLookLikePictures) {
  const SyntheticMinibatch minibatch({1, 28, 28}, 10, 32);
  const std::span pixels(minibatch.step_input().minibatch.pixels, std::size_t{32} * 784);
  const auto black = static_cast<double>(std::ranges::count(pixels, 0));
  EXPECT_GT(black, 0.45 * 32 * 784);
  EXPECT_LT(black, 0.55 * 32 * 784);
  EXPECT_EQ(*std::ranges::max_element(pixels), 255);
}

TEST(SyntheticDataset, IsAPrefixOfALargerOne) {
  const data::Dataset small = synthetic_dataset({3, 4, 5}, 7, 20),
                      large = synthetic_dataset({3, 4, 5}, 7, 30);
  EXPECT_EQ((std::vector<int>{small.channels, small.height, small.width, small.classes}),
            (std::vector<int>{3, 4, 5, 7}));
  EXPECT_EQ(small.size(), 20U);
  EXPECT_EQ(small.pixels.size(), 20U * 60);
  EXPECT_TRUE(std::ranges::equal(small.pixels, std::span(large.pixels).first(small.pixels.size())));
  EXPECT_EQ(small.labels[19], 19 % 7);
}

}  // namespace
}  // namespace lockstep::measure
