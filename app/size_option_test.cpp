#include "size_option.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/refusal_for_test.h"

namespace lockstep::app {
namespace {

TEST(SizeOption, IsChannelsHeightAndWidth) {
  EXPECT_EQ(picture_shape("3x30x32"), (model::Shape{3, 30, 32}));
  EXPECT_EQ(picture_shape("1x1x16384"), (model::Shape{1, 1, 16'384}));
}

TEST(SizeOption, RefusesWhatIsNone) {
  for (const char* const text : {"", "3", "3x32", "x", "32,32,3"}) {
    EXPECT_EQ(refusal_of(Fault::usage, [&] { picture_shape(text); }),
              fmt::format("--size: expected channels, height and width as in 3x32x32, found '{}'", text));
  }
  for (const char* const text : {"3x32x", "0x3x3", "3x32x32x1", "3x-1x2", "3x16385x2"})
    EXPECT_FALSE(refusal_of(Fault::usage, [&] { picture_shape(text); }).empty()) << text;
}

TEST(SizeOption, WithoutOneAModelIsForItsUsualPictures) {
  EXPECT_EQ(sized_model("vgg11", {}).input, (model::Shape{3, 32, 32}));
  EXPECT_EQ(sized_model("vgg11", model::Shape{1, 40, 50}).input, (model::Shape{1, 40, 50}));
}

}  // namespace
}  // namespace lockstep::app
