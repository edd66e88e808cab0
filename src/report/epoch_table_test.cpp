#include "report/epoch_table.h"

#include <cmath>
#include <sstream>

#include <gtest/gtest.h>

#include "report/columns.h"
#include "report/epochs_for_test.h"

namespace lockstep::report {
namespace {

TEST(EpochTable, HasALineForEachEpoch) {
  const std::vector<train::EpochReport> epochs = lenet_epochs(3);
  EXPECT_EQ(epoch_table(std::span(epochs).last(2), 10),
            "epoch    loss  test acc  seconds\n"
            "    2   1.020     0.628     2.00\n"
            "    3   0.730     0.727     2.00\n");
  EXPECT_EQ(epoch_table({}, 10), "epoch    loss  test acc  seconds\n");
}

TEST(EpochTable, NeverGetsWiderThanItSaid) {
  std::vector<train::EpochReport> epochs = lenet_epochs(4);
  epochs[0].epoch = 2'000'000'000;
  epochs[0].train_loss = 123.4567;
  epochs[0].seconds = 123456.78;
  epochs[1].train_loss = 1e30;
  epochs[1].seconds = 1e30;
  epochs[2].train_loss = HUGE_VAL;
  epochs[3].test_examples = epochs[3].test_correct = 0;
  const std::string text = epoch_table(epochs, 2'000'000'000);
  EXPECT_NE(text.find("2000000000  123.46     0.100   123457\n"), std::string::npos) << text;
  EXPECT_NE(text.find("   1e+30     0.628    1e+30\n"), std::string::npos) << text;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    EXPECT_EQ(columns_of(line), epoch_table_width(2'000'000'000)) << line;
}

}  // namespace
}  // namespace lockstep::report
