#include "base/nearest.h"

#include <vector>

#include <gtest/gtest.h>

namespace lockstep {
namespace {

const std::vector<std::string> kNames{"lenet", "mlp", "batch", "epochs"};

TEST(Nearest, FindsWhatWasMeant) {
  EXPECT_EQ(nearest_name("lnet", kNames), "lenet");    // a letter missing
  EXPECT_EQ(nearest_name("leenet", kNames), "lenet");  // a letter too many
  EXPECT_EQ(nearest_name("bacth", kNames), "batch");   // two swapped
  EXPECT_EQ(nearest_name("epoch", kNames), "epochs");
  EXPECT_EQ(nearest_name("LENET", kNames), "lenet");
  EXPECT_EQ(nearest_name("mlp", kNames), "mlp");
}

TEST(Nearest, IsSilentWhenNothingIsNear) {
  EXPECT_EQ(nearest_name("resnet50", kNames), "");
  EXPECT_EQ(nearest_name("abc", kNames), "");
  EXPECT_EQ(nearest_name("", kNames), "");
  EXPECT_EQ(nearest_name("lenet", {}), "");
  EXPECT_EQ(nearest_name(std::string(1000000, 'l'), kNames), "");
}

TEST(Nearest, EquallyNearTakesTheFirst) {
  const std::vector<std::string> names{"cat1", "cat2"};
  EXPECT_EQ(nearest_name("cat3", names), "cat1");
}

TEST(Nearest, TheNearestWinsOverAnEarlierNearOne) {
  const std::vector<std::string> names{"thread", "threads"};
  EXPECT_EQ(nearest_name("threadss", names), "threads");
}

TEST(Suggestion, NamesTheNearestOrAll) {
  EXPECT_EQ(suggestion("lnet", kNames), "; did you mean 'lenet'?");
  EXPECT_EQ(suggestion("resnet50", kNames), "; there are lenet, mlp, batch, epochs");
  EXPECT_EQ(suggestion("lenet", {}), "; there are none");
}

}  // namespace
}  // namespace lockstep
