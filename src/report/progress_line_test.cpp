#include "report/progress_line.h"

#include <gtest/gtest.h>

namespace lockstep::report {
namespace {

const ProgressFigures kFigures{.epoch = 3,
                               .epochs = 10,
                               .step = 120,
                               .steps_per_epoch = 235,
                               .loss = 0.5324,
                               .examples_per_second = 41200.4,
                               .seconds_left = 20.5,
                               .test_accuracy = 0.7812};

TEST(ProgressLine, SaysEverythingWhereThereIsRoom) {
  const std::string full =
      "epoch 3/10  step 120/235  loss 0.532  41,200 examples/s  0:21 left  test acc 0.781";
  EXPECT_EQ(progress_line(kFigures, 120), full);
  EXPECT_EQ(progress_line(kFigures, 82), full);
}

TEST(ProgressLine, LeavesOutTheLeastTellingFirst) {
  EXPECT_EQ(progress_line(kFigures, 81),
            "epoch 3/10  step 120/235  loss 0.532  41,200 examples/s  0:21 left");
  EXPECT_EQ(progress_line(kFigures, 60), "epoch 3/10  step 120/235  loss 0.532  0:21 left");
  EXPECT_EQ(progress_line(kFigures, 40), "epoch 3/10  step 120/235  loss 0.532");
  EXPECT_EQ(progress_line(kFigures, 30), "epoch 3/10  step 120/235");
  EXPECT_EQ(progress_line(kFigures, 1), "epoch 3/10  step 120/235");
}

TEST(ProgressLine, KeepsSilentAboutWhatIsNotKnownYet) {
  EXPECT_EQ(progress_line({.epoch = 1, .epochs = 2, .step = 1, .steps_per_epoch = 4, .loss = 2.3026}, 120),
            "epoch 1/2  step 1/4  loss 2.303");
}

}  // namespace
}  // namespace lockstep::report
