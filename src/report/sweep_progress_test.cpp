#include "report/sweep_progress.h"

#include <sstream>

#include <gtest/gtest.h>

namespace lockstep::report {
namespace {

// Runs of two epochs of four steps whose clock the test moves.
class SweepProgressTest : public testing::Test {
 protected:
  SweepProgress progress(const ProgressOptions& options, int runs = 3) {
    return {out_, options, [this] { return now_; }, runs};
  }

  void begin(SweepProgress& shown) {
    shown.begin_run();
    train::RunStart start;
    start.epochs = 2;
    start.steps_per_epoch = 4;
    shown.on_start(start);
  }

  // Half a second a step.
  void steps(SweepProgress& shown, int first, int last) {
    for (int i = first; i <= last; ++i) {
      now_ += 0.5;
      shown.on_step({.epoch = 1 + (i - 1) / 4, .step = 1 + (i - 1) % 4, .global_step = i, .loss = 0.75f});
    }
  }

  std::string taken() {
    std::string text = out_.str();
    out_.str("");
    return text;
  }

  const SweepRow row_{.accuracy = 0.72131, .seconds_per_epoch = 1.524, .run = "lr-0.1_batch-256_1xcpu"};
  std::ostringstream out_;
  double now_ = 100;
};

TEST_F(SweepProgressTest, ElsewhereEveryRunIsALineWithTheTimeLeft) {
  SweepProgress shown = progress({});
  begin(shown);
  steps(shown, 1, 8);
  EXPECT_EQ(taken(), "");
  shown.end_run(row_);
  EXPECT_EQ(taken(), "run 1 of 3  lr-0.1_batch-256_1xcpu  test acc 0.7213  1.52 s/epoch  0:08 left\n");
  begin(shown);
  steps(shown, 1, 2);
  SweepRow diverged{.run = "lr-9_batch-256_1xcpu"};
  diverged.diverged = true;
  shown.end_run(diverged, "step 3: the loss is not finite");
  EXPECT_EQ(taken(),
            "run 2 of 3  lr-9_batch-256_1xcpu  diverged: step 3: the loss is not finite  0:04 left\n")
      << "a run that diverged says nothing of how long the others take";
  begin(shown);
  now_ += 8;
  shown.end_run(row_);
  EXPECT_EQ(taken(), "run 3 of 3  lr-0.1_batch-256_1xcpu  test acc 0.7213  1.52 s/epoch\n");
}

TEST_F(SweepProgressTest, ElsewhereALongRunSpeaksEveryTenSeconds) {
  SweepProgress shown = progress({});
  begin(shown);
  now_ += 9;
  steps(shown, 1, 1);
  EXPECT_EQ(taken(), "");
  steps(shown, 2, 2);  // a quarter in ten seconds: 30 to come here, 40 in each of two more
  EXPECT_EQ(taken(), "run 1 of 3  epoch 1/2  step 2/4  loss 0.750  1:50 left\n");
}

TEST_F(SweepProgressTest, OnATerminalOneLineIsRewritten) {
  SweepProgress shown = progress({.terminal = true, .width = 60}, 2);
  begin(shown);
  steps(shown, 1, 1);  // 8 steps of half a second a run, 15 of them to come
  EXPECT_EQ(taken(), "\r\x1b[Krun 1 of 2  epoch 1/2  step 1/4  loss 0.750  0:08 left");
  now_ += 0.05;
  shown.on_step({.epoch = 1, .step = 2, .global_step = 2});
  EXPECT_EQ(taken(), "") << "at most ten times a second";
  shown.end_run(row_);
  EXPECT_EQ(taken(),
            "\r\x1b[Krun 1 of 2  lr-0.1_batch-256_1xcpu  test acc 0.7213  1.52 s/epoch  0:01 left\n");
}

TEST_F(SweepProgressTest, AWarningIsALineThatNamesTheRun) {
  SweepProgress plain = progress({});
  begin(plain);
  plain.on_warning("the loss stayed at 2.303");
  EXPECT_EQ(taken(), "run 1 of 3  warning: the loss stayed at 2.303\n");
  SweepProgress line = progress({.terminal = true});
  begin(line);
  steps(line, 1, 1);
  taken();
  line.on_warning("the loss stayed at 2.303");
  EXPECT_EQ(taken(), "\r\x1b[Krun 1 of 3  warning: the loss stayed at 2.303\n");
}

TEST_F(SweepProgressTest, AnInterruptedRunIsNamed) {
  SweepProgress shown = progress({.terminal = true});
  begin(shown);
  steps(shown, 1, 1);
  taken();
  shown.interrupt_run("runs/sweep-1/lr-0.1");
  EXPECT_EQ(
      taken(),
      "\r\x1b[Kinterrupted in run 1 of 3; go on with it: ./lockstep train --resume runs/sweep-1/lr-0.1\n");
  shown.interrupt_run("my runs/lr-0.1");
  EXPECT_EQ(taken(),
            "interrupted in run 1 of 3; go on with it: ./lockstep train --resume 'my runs/lr-0.1'\n");
}

TEST_F(SweepProgressTest, AnAbandonedSweepLeavesTheCursorOnAFreshLine) {
  {
    SweepProgress shown = progress({.terminal = true});
    begin(shown);
    steps(shown, 1, 1);
    taken();
  }
  EXPECT_EQ(taken(), "\n");
}

}  // namespace
}  // namespace lockstep::report
