#include "report/summary.h"

#include <gtest/gtest.h>

namespace lockstep::report {
namespace {

train::RunEnd two_epochs() {
  return {.epochs =
              {{.epoch = 1, .seconds = 3.0, .evaluation_seconds = 9, .test_correct = 1, .test_examples = 10},
               {.epoch = 2,
                .seconds = 3.8,
                .evaluation_seconds = 9,
                .test_correct = 8312,
                .test_examples = 10000}},
          .devices = {"cpu:0", "cpu:1"},
          .weights_hash = "9f3c00112233445566778899aabbccdd",
          .run_directory = "runs/lenet-1"};
}

TEST(Summary, IsTheBooksLineAndTheWeights) {
  EXPECT_EQ(summary(two_epochs()),
            "test acc: 0.83, 3.4 sec/epoch on [cpu:0, cpu:1]\n"
            "weights 9f3c00112233445566778899aabbccdd\n");
}

TEST(Summary, WithoutAFinishedEpochItSaysSo) {
  train::RunEnd end = two_epochs();
  end.epochs.clear();
  end.weights_hash.clear();
  EXPECT_EQ(summary(end), "no epoch finished on [cpu:0, cpu:1]\n");
}

TEST(Summary, SaysWhereTheRunIsKept) {
  train::RunEnd end = two_epochs();
  EXPECT_EQ(kept_in(end), "run runs/lenet-1\n");
  end.run_directory.clear();
  EXPECT_EQ(kept_in(end), "");
}

TEST(Summary, AnInterruptedRunSaysWhereAndHowItGoesOn) {
  train::RunEnd end = two_epochs();
  end.interrupted = true;
  EXPECT_EQ(interrupted(end, 10),
            "interrupted in epoch 3 of 10; go on with ./lockstep train --resume runs/lenet-1\n");
  end.epochs.clear();
  end.run_directory = "my runs/it's";
  EXPECT_EQ(interrupted(end, 10),
            "interrupted in epoch 1 of 10; go on with ./lockstep train --resume 'my runs/it'\\''s'\n");
}

TEST(Summary, AFinishedRunSaysHowToAddEpochs) {
  EXPECT_EQ(nothing_left(two_epochs()),
            "nothing was left to do: all 2 epochs are trained; add more with "
            "./lockstep train --resume runs/lenet-1 --epochs 4\n");
  EXPECT_EQ(nothing_left_of_schedule(two_epochs(), "mlp"),
            "nothing was left to do: all 2 epochs are trained, and the learning rate's schedule ends with "
            "them; train on from the weights with ./lockstep train mlp --load runs/lenet-1\n");
}

}  // namespace
}  // namespace lockstep::report
