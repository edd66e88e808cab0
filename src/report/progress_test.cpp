#include "report/progress.h"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "report/columns.h"
#include "report/epoch_table.h"
#include "report/epochs_for_test.h"
#include "report/terminal_curve.h"

namespace lockstep::report {
namespace {

constexpr int kSteps = 4, kExamples = 256;

// A run of four steps an epoch whose clock the test moves.
class ProgressTest : public testing::Test {
 protected:
  Progress progress(const ProgressOptions& options) {
    return {out_, options, [this] { return now_; }};
  }

  static train::RunStart start(int epochs) {
    train::RunStart start;
    start.model = "lenet";
    start.epochs = epochs;
    start.steps_per_epoch = kSteps;
    start.examples_per_epoch = kSteps * kExamples;
    return start;
  }

  static train::StepReport step(int epoch, int number) {
    return {.epoch = epoch,
            .step = number,
            .global_step = (epoch - 1) * kSteps + number,
            .examples = kExamples,
            .loss = 1.0f / static_cast<float>(number),
            .seconds = 0.5};
  }

  std::string taken() {
    std::string text = out_.str();
    out_.str("");
    return text;
  }

  std::ostringstream out_;
  double now_ = 100;
};

std::string with_line_ends_cleared(const std::string& text) {
  std::string result;
  for (char c : text) result += c == '\n' ? "\x1b[K\n" : std::string(1, c);
  return result;
}

TEST_F(ProgressTest, ElsewhereItWritesOnePlainLinePerEpoch) {
  Progress shown = progress({});
  shown.on_start(start(2));
  for (int i = 1; i <= kSteps; ++i) shown.on_step(step(1, i));
  EXPECT_EQ(taken(), "");
  shown.on_epoch(lenet_epochs(1)[0]);
  EXPECT_EQ(taken(), "epoch 1/2  loss 2.303  test acc 0.100  2.0 s  512 examples/s\n");
  shown.on_end({});
  EXPECT_EQ(taken(), "");
}

TEST_F(ProgressTest, ElsewhereALongEpochSpeaksEveryTenSeconds) {
  Progress shown = progress({});
  shown.on_start(start(2));
  now_ += 9.9;
  shown.on_step(step(1, 1));
  EXPECT_EQ(taken(), "");
  now_ += 0.1;
  shown.on_step(step(1, 2));
  // mean loss (1 + 1/2) / 2; 6 steps of half a second to come
  EXPECT_EQ(taken(), "epoch 1/2  step 2/4  loss 0.750  512 examples/s  0:03 left\n");
  now_ += 9.9;
  shown.on_step(step(1, 3));
  EXPECT_EQ(taken(), "");
}

TEST_F(ProgressTest, OnATerminalItRewritesOneLineAtMostTenTimesASecond) {
  Progress shown = progress({.terminal = true});
  shown.on_start(start(1));
  shown.on_step(step(1, 1));
  EXPECT_EQ(taken(), "\repoch 1/1  step 1/4  loss 1.000  512 examples/s  0:02 left\x1b[K");
  now_ += 0.05;
  shown.on_step(step(1, 2));
  EXPECT_EQ(taken(), "");
  now_ += 0.0625;
  shown.on_step(step(1, 3));
  EXPECT_EQ(taken(), "\repoch 1/1  step 3/4  loss 0.611  512 examples/s  0:01 left\x1b[K");
  shown.on_step(step(1, 4));  // the last one always
  EXPECT_EQ(taken(), "\repoch 1/1  step 4/4  loss 0.521  512 examples/s  0:00 left\x1b[K");
}

// At 100 columns the table and a gap take 35 of the 99 that may be used.
std::string curve_and_table(int epochs, int first_of_table, int all) {
  const std::vector<train::EpochReport> done = lenet_epochs(epochs);
  const auto skipped = static_cast<std::size_t>(first_of_table - 1);
  return with_line_ends_cleared(side_by_side(draw_curve(done, {.epochs = all, .width = 64}), 67,
                                             epoch_table(std::span(done).subspan(skipped), all)));
}

TEST_F(ProgressTest, OnATerminalTheCurveIsRedrawnInPlaceWithTheNumbersBesideIt) {
  Progress shown = progress({.terminal = true, .width = 100});
  shown.on_start(start(3));
  EXPECT_EQ(taken(), "\r" + curve_and_table(0, 1, 3));
  for (int i = 1; i <= kSteps; ++i) shown.on_step(step(1, i));
  taken();
  shown.on_epoch(lenet_epochs(1)[0]);
  EXPECT_EQ(taken(),
            "\r\x1b[13A" + curve_and_table(1, 1, 3) +
                "\repoch 1/3  step 4/4  loss 0.521  512 examples/s  0:04 left  test acc 0.100\x1b[K");
  now_ += 1;
  shown.on_step(step(2, 1));  // 7 steps and 2 evaluations of half a second to come
  EXPECT_EQ(taken(), "\repoch 2/3  step 1/4  loss 1.000  512 examples/s  0:05 left  test acc 0.100\x1b[K");
  shown.on_end({});
  EXPECT_EQ(taken(), "\r\x1b[K");
}

TEST_F(ProgressTest, TheCurveUsesTheWidthItHas) {
  for (const int width : {31, 60, 75, 76, 100, 180}) {
    Progress shown = progress({.terminal = true, .width = width});
    shown.on_start(start(10));
    std::istringstream lines(taken());
    int widest = 0;
    for (std::string line; std::getline(lines, line);)
      widest = std::max(widest, columns_of(line.substr(0, line.find("\x1b[K"))) - (line[0] == '\r' ? 1 : 0));
    EXPECT_EQ(widest, width < 76 ? width - 1 - 4 : width - 1)
        << "a curve alone is 4 short without loss labels";
  }
}

TEST_F(ProgressTest, ANarrowTerminalGetsTheNumbersAboveTheCurve) {
  Progress shown = progress({.terminal = true, .width = 60});
  shown.on_start(start(3));
  EXPECT_EQ(taken(), "\r" + with_line_ends_cleared(draw_curve({}, {.epochs = 3, .width = 59})));
  shown.on_epoch(lenet_epochs(1)[0]);
  EXPECT_EQ(taken(),
            "\r\x1b[13A" +
                with_line_ends_cleared("epoch 1/3  loss 2.303  test acc 0.100  2.0 s  512 examples/s\n") +
                "\r" + with_line_ends_cleared(draw_curve(lenet_epochs(1), {.epochs = 3, .width = 59})));
}

TEST_F(ProgressTest, EpochsThatLeaveTheTableMoveAboveTheCurve) {
  Progress shown = progress({.terminal = true, .width = 100});
  shown.on_start(start(20));
  train::EpochReport epoch = lenet_epochs(1)[0];
  for (; epoch.epoch <= kCurveLines - 1; ++epoch.epoch) shown.on_epoch(epoch);
  EXPECT_EQ(taken().find("/20"), std::string::npos) << "all are in the table";
  for (; epoch.epoch <= kCurveLines + 1; ++epoch.epoch) {
    shown.on_epoch(epoch);
    const std::string text = taken();
    EXPECT_EQ(text.find(fmt::format(
                  "\r\x1b[13Aepoch {}/20  loss 2.303  test acc 0.100  2.0 s  512 examples/s\x1b[K\n",
                  epoch.epoch - kCurveLines + 1)),
              0U)
        << text;
    EXPECT_EQ(text.find(fmt::format("{:>5}   2.303", epoch.epoch - kCurveLines + 1)), std::string::npos)
        << "each epoch has one place";
  }
}

TEST_F(ProgressTest, AWarningIsALineElsewhereAndStandsAboveTheCurveOnATerminal) {
  const std::string words = "the loss stayed at 2.303, about ln(10)";
  Progress plain = progress({});
  plain.on_start(start(2));
  plain.on_warning(words);
  EXPECT_EQ(taken(), "warning: " + words + "\n");
  Progress curve = progress({.terminal = true, .width = 40});
  curve.on_start(start(2));
  taken();
  curve.on_warning(words);
  EXPECT_EQ(taken(), "\r\x1b[13Awarning: the loss stayed at 2.303,\x1b[K\nabout ln(10)\x1b[K\n\r" +
                         with_line_ends_cleared(draw_curve({}, {.epochs = 2, .width = 39})));
  Progress line = progress({.terminal = true, .color = true});
  line.on_start(start(1));
  line.on_step(step(1, 1));
  taken();
  line.on_warning(words);
  EXPECT_EQ(taken(), "\r\x1b[K\x1b[33mwarning: " + words + "\x1b[0m\x1b[K\n");
}

TEST_F(ProgressTest, ATerminalTooSmallForTheCurveGetsALinePerEpoch) {
  for (const ProgressOptions& options :
       {ProgressOptions{.terminal = true, .width = kCurveMinWidth},
        ProgressOptions{.terminal = true, .width = 80, .height = kCurveLines + 1}}) {
    Progress shown = progress(options);
    shown.on_start(start(2));
    EXPECT_EQ(taken(), "");
    shown.on_step(step(1, 1));
    taken();
    shown.on_epoch(lenet_epochs(1)[0]);
    EXPECT_EQ(taken(), "\r\x1b[Kepoch 1/2  loss 2.303  test acc 0.100  2.0 s  512 examples/s\n");
  }
}

TEST_F(ProgressTest, AnAbandonedRunLeavesTheCursorOnAFreshLine) {
  {
    Progress shown = progress({.terminal = true});
    shown.on_start(start(1));
    shown.on_step(step(1, 1));
    taken();
  }
  EXPECT_EQ(taken(), "\n");
}

}  // namespace
}  // namespace lockstep::report
