#include "report/sweep_table.h"

#include <limits>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "report/sweep_for_test.h"

namespace lockstep::report {
namespace {

TEST(SweepTable, AlignsAndSaysWhatDiverged) {
  EXPECT_EQ(sweep_table(sweep_of({0.04, 0.05, 2}, {256}, {1, 2})),
            "  lr  batch  devices  test acc        sec/epoch  weights\n"
            "0.04    256        1    0.5100             2.00  aaaaaaaaaaaaaaaaaaaaaaaaaa400256\n"
            "0.04    256        2    0.5100             1.00  aaaaaaaaaaaaaaaaaaaaaaaaaa400256\n"
            "0.05    256        1    0.5125  best       2.00  aaaaaaaaaaaaaaaaaaaaaaaaaa500256\n"
            "0.05    256        2    0.5125  best       1.00  aaaaaaaaaaaaaaaaaaaaaaaaaa500256\n"
            "   2    256        1  diverged                -  aaaaaaaaaaaaaaaaaaaaaaaa20000256\n"
            "   2    256        2  diverged                -  aaaaaaaaaaaaaaaaaaaaaaaa20000256\n");
}

TEST(SweepBest, IsTheHighestAccuracyThatARunReached) {
  std::vector<SweepRow> rows = sweep_of({0.1, 0.2, 2}, {256}, {1});
  EXPECT_FALSE(is_best(rows[0], rows));
  EXPECT_TRUE(is_best(rows[1], rows));
  EXPECT_FALSE(is_best(rows[2], rows)) << "it diverged";
  rows[1].accuracy = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(is_best(rows[0], rows));
  EXPECT_FALSE(is_best(rows[1], rows));
}

TEST(SweepCsv, HasEmptyFieldsWhereARunDiverged) {
  std::vector<SweepRow> rows = sweep_of({0.05, 2}, {256}, {1});
  rows[0].run = "lr-0.05";
  EXPECT_EQ(sweep_csv(rows),
            "lr,batch,devices,test_accuracy,seconds_per_epoch,weights,diverged,run,best\n"
            "0.05,256,1,0.5125,2,aaaaaaaaaaaaaaaaaaaaaaaaaa500256,false,lr-0.05,true\n"
            "2,256,1,,,aaaaaaaaaaaaaaaaaaaaaaaa20000256,true,,false\n");
}

TEST(SweepJson, NumbersReadBackExactly) {
  std::vector<SweepRow> rows = sweep_of({0.1, 2}, {256}, {1});
  rows[0].accuracy = 1.0 / 3.0;
  rows[0].run = "lr-0.1";
  const auto json = nlohmann::json::parse(sweep_json(rows));
  ASSERT_EQ(json.size(), 2);
  EXPECT_EQ(json[0].at("lr").get<double>(), 0.1);
  EXPECT_EQ(json[0].at("batch"), 256);
  EXPECT_EQ(json[0].at("devices"), 1);
  EXPECT_EQ(json[0].at("test_accuracy").get<double>(), 1.0 / 3.0);
  EXPECT_EQ(json[0].at("seconds_per_epoch").get<double>(), 2);
  EXPECT_EQ(json[0].at("weights"), rows[0].weights);
  EXPECT_EQ(json[0].at("diverged"), false);
  EXPECT_EQ(json[0].at("run"), "lr-0.1");
  EXPECT_EQ(json[0].at("best"), true);
  EXPECT_EQ(json[1].at("best"), false);
  EXPECT_TRUE(json[1].at("test_accuracy").is_null());
  EXPECT_TRUE(json[1].at("seconds_per_epoch").is_null());
  EXPECT_EQ(json[1].at("diverged"), true);
}

TEST(SweepJson, IsValidWithoutRowsAndWithoutNumbers) {
  EXPECT_TRUE(nlohmann::json::parse(sweep_json({})).empty());
  std::vector<SweepRow> rows = sweep_of({0.1}, {256}, {1});
  rows[0].accuracy = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(nlohmann::json::parse(sweep_json(rows))[0].at("test_accuracy").is_null());
}

}  // namespace
}  // namespace lockstep::report
