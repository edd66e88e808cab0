// Layers, groups and optimizers that cannot be: each is an Error(usage) in one line, and a training that was
// to be kept in a directory has made none.
#include <filesystem>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "api/pictures_for_test.h"
#include "api/training.h"
#include "base/refusal_for_test.h"

namespace lockstep {
inline namespace api {
namespace {

namespace fs = std::filesystem;

class RefusedTraining : public testing::Test {
 protected:
  RefusedTraining() {
    std::string pattern = testing::TempDir() + "lockstep-refused-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~RefusedTraining() override { fs::remove_all(folder_); }

  std::string refusal(TrainOptions options) {
    options.run = folder_ / "run";
    const std::string said = refusal_of(Fault::usage, [&] { run_training(options); });
    EXPECT_TRUE(fs::is_empty(folder_)) << said;
    return said;
  }
  // Of the 100 pictures, in minibatches of 48: the last one has 4.
  std::string refusal_with(LayerKind kind, int batch = 48) {
    const Conv2d before{.out_channels = 4, .kernel = {5, 5}, .stride = {5, 5}};
    return refusal({.model = {.layers = {before, {"tested", kind}, Flatten{}, {"last", Linear{10}}}},
                    .data = data_,
                    .batch = batch});
  }
  // A batch norm of single values.
  std::string refusal_of_units(int ghost, int batch) {
    return refusal(
        {.model = {.layers = {Flatten{}, Linear{12}, {"tested", BatchNorm{.ghost = ghost}}, Linear{10}}},
         .data = data_,
         .batch = batch});
  }

  const Dataset data_ = some_data();
  fs::path folder_;
};

TEST_F(RefusedTraining, GhostsThatAreNoGroupsOfAMinibatch) {
  using testing::HasSubstr;
  for (const int ghost : {10, 24, -16})
    EXPECT_THAT(refusal_with(BatchNorm{.ghost = ghost}), HasSubstr("a multiple of 16 examples")) << ghost;
  EXPECT_THAT(refusal_with(BatchNorm{.ghost = 64}),
              HasSubstr("layer tested: ghost 64 is larger than a minibatch of 48 examples"));
  EXPECT_THAT(refusal_with(BatchNorm{.ghost = 112}, 200),
              HasSubstr("ghost 112 is larger than a minibatch of 100 examples"));
}

TEST_F(RefusedTraining, GroupsWithOneValueForEachChannel) {
  using testing::HasSubstr;
  EXPECT_THAT(refusal_of_units(0, 1), HasSubstr("layer tested: the last group of a minibatch of 1"));
  EXPECT_THAT(refusal_of_units(0, 99), HasSubstr("layer tested: the last group of a minibatch of 1"));
  EXPECT_THAT(refusal_of_units(16, 97), HasSubstr("layer tested: the last group of a minibatch of 97"));
}

TEST_F(RefusedTraining, ProbabilitiesOfDropout) {
  for (const double p : {1.0, -0.1, 1.5, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_THAT(refusal_with(Dropout{p}), testing::HasSubstr("it must be at least 0 and below 1")) << p;
}

TEST_F(RefusedTraining, GroupsThatDoNotDivideTheChannels) {
  for (const auto& [groups, outputs] : {std::pair{3, 6}, std::pair{4, 6}, std::pair{0, 4}, std::pair{-2, 4}})
    EXPECT_THAT(refusal_with(Conv2d{.out_channels = outputs, .kernel = {3, 3}, .groups = groups}),
                testing::HasSubstr("layer tested"))
        << groups;
}

TEST_F(RefusedTraining, UnknownOptimizers) {
  EXPECT_EQ(refusal({.data = data_, .optimizer = "adem"}),
            "optimizer: there is no 'adem'; did you mean 'adam'?");
}

}  // namespace
}  // namespace api
}  // namespace lockstep
