#include "report/metrics_jsonl.h"

#include <cmath>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "report/full_disk_for_test.h"

namespace lockstep::report {
namespace {

const train::StepReport kStep{.epoch = 2,
                              .step = 3,
                              .global_step = 238,
                              .examples = 256,
                              .loss = 0.1f,
                              .learning_rate = 0.2f,
                              .seconds = 0.0125,
                              .devices = {{.compute = 0.01, .exchange = 0.0015, .wait = 0.00025}},
                              .packs = {16}};
const train::EpochReport kEpoch{.epoch = 2,
                                .train_loss = 0.75,
                                .seconds = 2.5,
                                .evaluation_seconds = 0.25,
                                .test_correct = 7812,
                                .test_examples = 10000,
                                .test_loss = 0.1f};

TEST(MetricsJsonl, OneObjectPerStepAndPerEpoch) {
  std::ostringstream out;
  MetricsJsonl metrics(out, "metrics.jsonl");
  metrics.on_step(kStep);
  metrics.on_epoch(kEpoch);
  EXPECT_EQ(out.str(),
            R"({"epoch":2,"step":3,"global_step":238,"examples":256,"loss":0.1,"lr":0.2,"seconds":0.0125,)"
            R"("devices":[{"packs":16,"compute":0.010000,"exchange":0.001500,"wait":0.000250}]})"
            "\n"
            R"({"epoch":2,"train_loss":0.75,"test_loss":0.1,"test_accuracy":0.7812,"test_correct":7812,)"
            R"("test_examples":10000,"seconds":2.5,"evaluation_seconds":0.25})"
            "\n");
}

TEST(MetricsJsonl, EveryLineIsJsonEvenWhenTheLossIsNot) {
  std::ostringstream out;
  MetricsJsonl metrics(out, "metrics.jsonl");
  train::StepReport step = kStep;
  step.loss = 0x1.fffffep-3f;
  metrics.on_step(step);
  step.loss = std::nanf("");
  metrics.on_step(step);
  metrics.on_epoch({.epoch = 1});  // never evaluated: 0 of 0
  std::istringstream lines(out.str());
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(nlohmann::json::parse(line).at("loss").get<float>(), 0x1.fffffep-3f);
  std::getline(lines, line);
  EXPECT_TRUE(nlohmann::json::parse(line).at("loss").is_null());
  std::getline(lines, line);
  EXPECT_TRUE(nlohmann::json::parse(line).at("test_accuracy").is_null());
}

TEST(MetricsJsonl, AFullDiskIsAnErrorThatNamesTheFile) {
  FullDisk out(10);
  MetricsJsonl metrics(out, "runs/lenet-1/metrics.jsonl");
  try {
    metrics.on_step(kStep);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::ours);
    EXPECT_NE(std::string(error.what()).find("runs/lenet-1/metrics.jsonl"), std::string::npos);
  }
}

}  // namespace
}  // namespace lockstep::report
