#include "report/sweep_table.h"

#include <limits>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "report/sweep_for_test.h"

namespace lockstep::report {
namespace {

TEST(SweepTable, AlignsAndSaysWhatDiverged) {
  EXPECT_EQ(sweep_table(sweep_of({0.05, 2}, {256}, {1, 2})),
            "  lr  batch  devices  test acc  sec/epoch  weights\n"
            "0.05    256        1    0.5125       2.00  aaaaaaaaaaaaaaaaaaaaaaaaaa500256\n"
            "0.05    256        2    0.5125       1.00  aaaaaaaaaaaaaaaaaaaaaaaaaa500256\n"
            "   2    256        1  diverged          -  aaaaaaaaaaaaaaaaaaaaaaaa20000256\n"
            "   2    256        2  diverged          -  aaaaaaaaaaaaaaaaaaaaaaaa20000256\n");
}

TEST(SweepCsv, HasEmptyFieldsWhereARunDiverged) {
  EXPECT_EQ(sweep_csv(sweep_of({0.05, 2}, {256}, {1})),
            "lr,batch,devices,test_accuracy,seconds_per_epoch,weights,diverged\n"
            "0.05,256,1,0.5125,2,aaaaaaaaaaaaaaaaaaaaaaaaaa500256,false\n"
            "2,256,1,,,aaaaaaaaaaaaaaaaaaaaaaaa20000256,true\n");
}

TEST(SweepJson, NumbersReadBackExactly) {
  std::vector<SweepRow> rows = sweep_of({0.1, 2}, {256}, {1});
  rows[0].accuracy = 1.0 / 3.0;
  const auto json = nlohmann::json::parse(sweep_json(rows));
  ASSERT_EQ(json.size(), 2);
  EXPECT_EQ(json[0].at("lr").get<double>(), 0.1);
  EXPECT_EQ(json[0].at("batch"), 256);
  EXPECT_EQ(json[0].at("devices"), 1);
  EXPECT_EQ(json[0].at("test_accuracy").get<double>(), 1.0 / 3.0);
  EXPECT_EQ(json[0].at("seconds_per_epoch").get<double>(), 2);
  EXPECT_EQ(json[0].at("weights"), rows[0].weights);
  EXPECT_EQ(json[0].at("diverged"), false);
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
