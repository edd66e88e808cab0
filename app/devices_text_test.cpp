#include "devices_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace lockstep::app {
namespace {

Survey two_devices() {
  return {.devices = {{.what = {.name = "cpu:0",
                                .kind = "CPU",
                                .model = "Some CPU",
                                .driver = "avx2 kernels",
                                .memory = 8'000'000'000,
                                .units = 4},
                       .multiply_adds = 123.4e9},
                      {.what = {.name = "opencl:0",
                                .kind = "OpenCL GPU",
                                .model = "Some GPU\n",
                                .driver = "1.2",
                                .memory = 16'500'000'000,
                                .units = 60,
                                .gpu = true},
                       .refused = "a sum is wrong"}},
          .missing = {"no CUDA driver found"}};
}

TEST(DevicesText, ATableAndWhatIsMissing) {
  EXPECT_EQ(devices_table(two_devices()),
            "device    kind        model     driver         memory  units  multiply-adds  results\n"
            "cpu:0     CPU         Some CPU  avx2 kernels   8.0 GB      4      123.4 G/s  exact\n"
            "opencl:0  OpenCL GPU  Some GPU  1.2           16.5 GB     60              -  refused: a sum is "
            "wrong\n"
            "\n"
            "no CUDA driver found\n");
}

TEST(DevicesText, JsonForPrograms) {
  const auto json = nlohmann::json::parse(devices_json(two_devices()));
  EXPECT_EQ(json["devices"][0]["name"], "cpu:0");
  EXPECT_EQ(json["devices"][0]["exact"], true);
  EXPECT_TRUE(json["devices"][0]["refused"].is_null());
  EXPECT_EQ(json["devices"][1]["refused"], "a sum is wrong");
  EXPECT_TRUE(json["devices"][1]["multiply_adds_per_second"].is_null());
  EXPECT_EQ(json["missing"][0], "no CUDA driver found");
}

TEST(DevicesText, TheReportSaysWhetherTheBitsAreTheSame) {
  DevicesReport report{.version = "1.2.3", .system = "Some system", .survey = two_devices()};
  report.trials = {{.device = "cpu:0", .seconds = 0.00525, .weights = golden_weights()},
                   {.device = "opencl:1", .seconds = 0.001, .weights = std::string(32, '0')},
                   {.device = "opencl:2", .failed = "no memory"}};
  const std::string text = devices_report(report);
  EXPECT_THAT(text, testing::HasSubstr("lockstep 1.2.3\nsystem: Some system\n"));
  EXPECT_THAT(text, testing::HasSubstr("refused: a sum is wrong\n"));
  EXPECT_THAT(text, testing::HasSubstr("cpu:0          5.25  yes        " + golden_weights() + "\n"));
  EXPECT_THAT(text, testing::HasSubstr("opencl:1       1.00  no         00000000000000000000000000000000\n"));
  EXPECT_THAT(text, testing::HasSubstr("opencl:2          -  no         no memory\n"));
  EXPECT_THAT(text, testing::HasSubstr("issue tracker of the project"));
}

TEST(DevicesText, TheReportSaysWhyNothingWasTried) {
  const DevicesReport report{.version = "1", .system = "s", .survey = two_devices(), .not_tried = "no data"};
  EXPECT_THAT(devices_report(report), testing::HasSubstr("not tried: no data\n"));
}

}  // namespace
}  // namespace lockstep::app
