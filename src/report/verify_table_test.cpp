#include "report/verify_table.h"

#include <vector>

#include <gtest/gtest.h>

namespace lockstep::report {
namespace {

const VerifyRow kAlone{.devices = "cpu:0",
                       .threads = 1,
                       .exchange = "",
                       .order = "pack",
                       .steps = 20,
                       .hash = "9f3c00112233445566778899aabbccdd",
                       .seconds = 1.5,
                       .equal = true};
const VerifyRow kPair{.devices = "cpu:0, cpu:1",
                      .threads = 2,
                      .exchange = "sharded",
                      .order = "layer",
                      .steps = 20,
                      .hash = "9f3c00112233445566778899aabbccdd",
                      .seconds = 10.25,
                      .equal = true};

std::string verdict_of(const std::vector<VerifyRow>& rows) {
  const std::string text = verify_table(rows);
  return text.substr(text.rfind("\n\n") + 2);
}

VerifyRow broken(VerifyRow row) {
  row.hash = "00000000000000000000000000000000";
  row.equal = false;
  return row;
}

TEST(VerifyTable, SaysWhatIsComparedAndWhatCameOut) {
  EXPECT_EQ(verify_table(std::vector{kAlone, broken(kPair)}),
            R"(Each line is the same training, run in another way. Under "weights" is the hash of all weights
after the last step: if one bit of one weight changes, it changes.

devices       threads  exchange  order  steps  weights                           result   seconds
cpu:0               1  -         pack      20  9f3c00112233445566778899aabbccdd  equal       1.50
cpu:0, cpu:1        2  sharded   layer     20  00000000000000000000000000000000  DIFFERS    10.25

1 of 2 runs DIFFERS: at least one bit of its weights is not as expected
)");
}

TEST(VerifyTable, TheVerdictCounts) {
  EXPECT_EQ(verdict_of({kAlone, kPair}), "all 2 runs have equal weights, bit for bit\n");
  EXPECT_EQ(verdict_of({kAlone}), "the run has the expected weights, bit for bit\n");
  EXPECT_EQ(verdict_of({kAlone, broken(kAlone), broken(kPair)}),
            "2 of 3 runs DIFFER: at least one bit of their weights is not as expected\n");
  EXPECT_EQ(verdict_of({}), "no run to compare\n");
}

}  // namespace
}  // namespace lockstep::report
