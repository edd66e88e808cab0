#include "report/terminal_curve.h"

#include <algorithm>
#include <limits>
#include <sstream>

#include <gtest/gtest.h>

#include "report/epochs_for_test.h"

namespace lockstep::report {
namespace {

// Characters, not bytes; none of ours is wider than a column.
int columns(const std::string& line) {
  int count = 0;
  for (char c : line) count += (static_cast<unsigned char>(c) & 0xC0u) != 0x80u ? 1 : 0;
  return count;
}

TEST(TerminalCurve, DrawsAccuracySolidAndLossDotted) {
  EXPECT_EQ(draw_curve(lenet_epochs(10), {.epochs = 10}),
            R"(      ⠒⠒⠒ test acc 0.830    ⠂⠐⠠ train loss 0.460
 1.0 ┤⡀                                                ├ 2.5
     │ ⠄                                 ⢀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣤│
 0.8 ┤ ⠐        ⢀⣀⣀⣀⠤⠤⠤⠤⠤⠒⠒⠒⠒⠒⠊⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠁             ├ 2.0
     │  ⠈⡀ ⢀⡠⠤⠒⠉⠁                                      │
 0.6 ┤    ⢠⠃                                           ├ 1.5
     │   ⢠⠃                                            │
 0.4 ┤  ⢠⠃ ⠈ ⠂⠠ ⡀                                      ├ 1.0
     │ ⢠⠃        ⠈ ⠂⠐ ⠄⠠ ⡀⢀ ⡀⢀                         │
 0.2 ┤⢠⠃                       ⠁⠈ ⠁⠈ ⠁⠈ ⠁⠈ ⠁⠈ ⠁⠈ ⠁⠈ ⠂⠐ ├ 0.5
     │⠁                                                │
 0.0 ┼┬────┬─────┬────┬────┬─────┬────┬────┬─────┬────┬┼ 0.0
epoch 1    2     3    4    5     6    7    8     9   10
)");
}

TEST(TerminalCurve, GrowsWithinAxesThatStandFromTheStart) {
  EXPECT_EQ(draw_curve({}, {.epochs = 10, .width = 40}), R"( ⠒ test acc ⠂ loss
 1.0 ┤                             ├
     │                             │
 0.8 ┤                             ├
     │                             │
 0.6 ┤                             ├
     │                             │
 0.4 ┤                             ├
     │                             │
 0.2 ┤                             ├
     │                             │
 0.0 ┼┬───────────┬───────────────┬┼
epoch 1           5              10
)");
  EXPECT_EQ(draw_curve(lenet_epochs(1), {.epochs = 10, .width = 40}), R"( ⠒ test acc 0.100 ⠂ loss 2.303
 1.0 ┤⡀                            ├ 2.5
     │                             │
 0.8 ┤                             ├ 2.0
     │                             │
 0.6 ┤                             ├ 1.5
     │                             │
 0.4 ┤                             ├ 1.0
     │                             │
 0.2 ┤                             ├ 0.5
     │⠛                            │
 0.0 ┼┬───────────┬───────────────┬┼ 0.0
epoch 1           5              10
)");
}

TEST(TerminalCurve, ColorsChangeNoCharacter) {
  std::string colored = draw_curve(lenet_epochs(4), {.epochs = 10, .color = true});
  EXPECT_NE(colored.find("\x1b[36m"), std::string::npos);
  for (std::size_t escape; (escape = colored.find('\x1b')) != std::string::npos;) {
    colored.erase(escape, colored.find('m', escape) + 1 - escape);
  }
  EXPECT_EQ(colored, draw_curve(lenet_epochs(4), {.epochs = 10}));
}

TEST(TerminalCurve, KeepsItsSizeForEveryRunAndWidth) {
  for (int width : {kCurveMinWidth, 40, 59, 60, 100}) {
    for (int epochs : {1, 2, 10, 99, 100, 12345}) {
      for (int done : {0, 1, 10}) {
        std::istringstream lines(
            draw_curve(lenet_epochs(std::min(done, epochs)), {.epochs = epochs, .width = width}));
        int count = 0;
        for (std::string line; std::getline(lines, line); ++count) EXPECT_LE(columns(line), width) << line;
        EXPECT_EQ(count, kCurveLines);
      }
    }
  }
}

TEST(TerminalCurve, WhatIsNotFiniteLeavesAGap) {
  std::vector<train::EpochReport> epochs = lenet_epochs(3);
  epochs[1].test_examples = epochs[1].test_correct = 0;
  epochs[1].train_loss = std::numeric_limits<double>::infinity();
  EXPECT_EQ(draw_curve(epochs, {.epochs = 3, .width = 40}), R"( ⠒ test acc 0.727 ⠂ loss 0.730
 1.0 ┤⡀                            ├ 2.5
     │                             │
 0.8 ┤                            ⣤├ 2.0
     │                             │
 0.6 ┤                             ├ 1.5
     │                             │
 0.4 ┤                             ├ 1.0
     │                             │
 0.2 ┤                             ├ 0.5
     │⠁                            │
 0.0 ┼┬─────────────┬─────────────┬┼ 0.0
epoch 1             2             3
)");
}

}  // namespace
}  // namespace lockstep::report
