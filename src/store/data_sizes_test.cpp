#include "store/data_sizes.h"

#include <limits>

#include <gtest/gtest.h>

namespace lockstep::store {
namespace {

const DataSizes kSizes{
    .train = 60000, .test = 10000, .channels = 1, .height = 28, .width = 29, .classes = 10};

TEST(DataSizes, ComeBackFromTheirText) {
  EXPECT_EQ(to_text(kSizes), "60000 + 10000 pictures of 1x28x29, 10 classes");
  EXPECT_EQ(data_sizes_in(to_text(kSizes)), kSizes);
  DataSizes large = kSizes;
  large.train = std::numeric_limits<std::int64_t>::max();
  large.classes = std::numeric_limits<int>::max();
  EXPECT_EQ(data_sizes_in(to_text(large)), large);
}

TEST(DataSizes, MayBeUnknown) {
  EXPECT_EQ(to_text({}), "");
  EXPECT_EQ(data_sizes_in(""), DataSizes{});
  EXPECT_FALSE(DataSizes{}.known());
  EXPECT_TRUE(kSizes.known());
}

TEST(DataSizes, OtherTextsAreNone) {
  const std::string text = to_text(kSizes);
  for (std::size_t size = 1; size < text.size(); ++size)
    EXPECT_EQ(data_sizes_in(text.substr(0, size)), std::nullopt) << size;
  for (const char* const other :
       {"60000 + 10000 pictures of 1x28x29, 10 classes ", "060000 + 10000 pictures of 1x28x29, 10 classes",
        "60000 + 0 pictures of 1x28x29, 10 classes", "60000 + -1 pictures of 1x28x29, 10 classes",
        "60000 + 10000 pictures of 1x28x99999999999, 10 classes",
        "60000+10000 pictures of 1x28x29, 10 classes",
        "9223372036854775808 + 1 pictures of 1x28x29, 10 classes"})
    EXPECT_EQ(data_sizes_in(other), std::nullopt) << other;
}

}  // namespace
}  // namespace lockstep::store
