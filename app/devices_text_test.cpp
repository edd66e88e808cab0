#include "devices_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace lockstep::app {
namespace {

using enum arithmetic::ConvolutionRule;

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

SurveyedDevice exact_device(std::string name) {
  SurveyedDevice device;
  device.what.name = std::move(name);
  return device;
}

SurveyedDevice device_on_cores(std::string name, int units) {
  SurveyedDevice device = exact_device(std::move(name));
  device.what.units = units;
  device.what.on_cores = true;
  return device;
}

std::string table_with_parts(int units) {
  Survey survey = two_devices();
  survey.devices.push_back(device_on_cores("opencl:1", units));
  return devices_table(survey);
}

TEST(DevicesText, TheNamesOfADeviceThatCanBeDividedAreSaid) {
  EXPECT_THAT(table_with_parts(2),
              testing::HasSubstr("\n\nopencl:1 computes on the host's cores and can be divided: "
                                 "opencl:1 and opencl:2\nno CUDA driver found\n"));
  EXPECT_THAT(table_with_parts(64), testing::HasSubstr("can be divided: opencl:1 to opencl:64\n"));
  EXPECT_THAT(table_with_parts(1), testing::Not(testing::HasSubstr("divided")));
}

TEST(DevicesText, OnlyTheLastOpenClDeviceCanBeDivided) {
  Survey survey{.devices = {device_on_cores("opencl:0", 8), exact_device("opencl:1")}, .missing = {}};
  EXPECT_THAT(devices_table(survey), testing::Not(testing::HasSubstr("divided")));
  survey.devices.pop_back();
  EXPECT_THAT(devices_table(survey), testing::HasSubstr("opencl:0 to opencl:7\n"));
  survey.devices.back().refused = "a sum is wrong";
  EXPECT_THAT(devices_table(survey), testing::Not(testing::HasSubstr("divided")));
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
  const std::string golden = golden_weights(direct);
  report.trials = {{.devices = "cpu:0",
                    .convolution = direct,
                    .seconds = 0.00525,
                    .packs = {16},
                    .weights = golden,
                    .expected = golden},
                   {.devices = "cpu:0+opencl:1",
                    .seconds = 0.001,
                    .packs = {12, 4},
                    .weights = std::string(32, '0'),
                    .expected = golden_weights(fast)},
                   {.devices = "opencl:2", .failed = "no memory"}};
  const std::string text = devices_report(report);
  EXPECT_THAT(text, testing::HasSubstr("lockstep 1.2.3\nsystem: Some system\n"));
  EXPECT_THAT(text, testing::HasSubstr("refused: a sum is wrong\n"));
  EXPECT_THAT(text, testing::HasSubstr("on Fashion-MNIST; the weights should be\n" + golden_weights(fast) +
                                       " (fast) and " + golden + " (direct):\n"));
  EXPECT_THAT(text,
              testing::HasSubstr("devices         convolution  packs  ms a step  same bits  weights\n"
                                 "cpu:0           direct          16       5.25  yes        " +
                                 golden +
                                 "\n"
                                 "cpu:0+opencl:1  fast          12+4       1.00  no         " +
                                 std::string(32, '0') +
                                 "\n"
                                 "opencl:2        fast             -          -  -          no memory\n"));
  EXPECT_THAT(text, testing::HasSubstr("issue tracker of the project"));
}

TEST(DevicesText, TheReportOfOtherDataExpectsNoGoldenWeights) {
  const DevicesReport report{
      .version = "1", .system = "s", .survey = two_devices(), .golden_data = false, .not_tried = "no data"};
  EXPECT_THAT(devices_report(report), testing::HasSubstr("other pictures than Fashion-MNIST"));
  EXPECT_THAT(devices_report(report), testing::Not(testing::HasSubstr(golden_weights(fast))));
}

TEST(DeviceSurvey, ExactDevicesTrainAloneAndWithTheNext) {
  Survey survey = two_devices();  // the second is refused
  EXPECT_THAT(golden_crews(survey), testing::ElementsAre(testing::ElementsAre("cpu:0")));
  for (const char* name : {"cuda:0", "cuda:1"}) survey.devices.push_back(exact_device(name));
  using Crew = std::vector<std::string>;
  EXPECT_THAT(golden_crews(survey), testing::ElementsAre(Crew{"cpu:0"}, Crew{"cuda:0"}, Crew{"cuda:1"},
                                                         Crew{"cpu:0", "cuda:0"}, Crew{"cuda:0", "cuda:1"}));
}

TEST(DeviceSurvey, OtherDataExpectsTheWeightsOfTheFirstDevice) {
  std::vector<GoldenTrial> trials{{.devices = "cpu:0", .convolution = fast, .failed = "no memory"},
                                  {.devices = "cpu:0", .convolution = direct, .weights = "1"},
                                  {.devices = "cuda:0", .convolution = fast, .weights = "2"},
                                  {.devices = "cuda:0", .convolution = direct, .weights = "2"}};
  expect_those_of_the_first(trials);
  std::vector<bool> same;
  for (const GoldenTrial& trial : trials) same.push_back(trial.same_bits());
  EXPECT_THAT(same, testing::ElementsAre(false, true, true, false));
}

std::string problem_of(const std::vector<GoldenTrial>& trials, Fault fault) {
  try {
    check_bits(trials);
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), fault);
    return error.what();
  }
  return {};
}

TEST(DeviceSurvey, BitsThatDifferAreWorseThanADeviceThatFailed) {
  const GoldenTrial well{.devices = "cpu:0", .weights = "1", .expected = "1"};
  const GoldenTrial failed{.devices = "cuda:0", .failed = "no memory", .expected = "1"};
  const GoldenTrial differs{.devices = "cuda:1", .convolution = direct, .weights = "2", .expected = "1"};
  EXPECT_EQ(problem_of({well}, Fault::ours), "");
  EXPECT_EQ(problem_of({well, failed}, Fault::device), "could not train, as the report says: cuda:0 (fast)");
  EXPECT_EQ(problem_of({failed, well, differs}, Fault::verification),
            "bits differ from those that every device should have: cuda:1 (direct)");
}

TEST(DevicesText, TheReportSaysWhyNothingWasTried) {
  const DevicesReport report{.version = "1", .system = "s", .survey = two_devices(), .not_tried = "no data"};
  EXPECT_THAT(devices_report(report), testing::HasSubstr("not tried: no data\n"));
}

}  // namespace
}  // namespace lockstep::app
