// What a crew does about a device that goes wrong.
#include "run/crew.h"

#include <bit>
#include <future>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/refusal_for_test.h"
#include "base/same_bits_for_test.h"
#include "cpu/cpu_device.h"
#include "device/faulty_device.h"
#include "device/passing_on.h"
#include "program/compile.h"
#include "run/runner.h"
#include "run/two_layers_for_test.h"

namespace lockstep::run {
namespace {

using device::Drill;
using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr int kDevices = 3, kBatch = 48;
constexpr auto kNever = std::chrono::hours(1);  // a test that waits that long never ends

struct Examples {
  std::vector<std::uint8_t> pixels = std::vector<std::uint8_t>(kBatch * 36),
                            labels = std::vector<std::uint8_t>(kBatch);
  std::vector<std::uint32_t> order = std::vector<std::uint32_t>(kBatch);
  Examples() {
    for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::uint8_t>(i * 37 % 251);
    for (std::size_t i = 0; i < order.size(); ++i) {
      order[i] = static_cast<std::uint32_t>(i);
      labels[i] = static_cast<std::uint8_t>(i % 4);
    }
  }
  device::StepInput input() const { return {{pixels.data(), labels.data(), order}, {0.1f}}; }
};
const Examples kExamples;

Weights some_weights() { return weights_by_index(two_layers()); }

// Three devices; the second has a drill to go through.
std::vector<std::unique_ptr<device::Device>> devices_with(const Drill& drill,
                                                          const std::function<void()>& hang = nullptr) {
  auto devices = cpu::make_cpu_devices({.names = {"cpu:0", "cpu:1", "cpu:2"}, .threads = 1, .bind = false});
  devices[1] = device::make_faulty(std::move(devices[1]), drill, hang);
  return devices;
}

// Runs steps on a crew until one throws; returns what it said.
std::string error_of(Crew& crew, int steps) {
  Runner runner(crew, data_parallel(program::compile_training(two_layers()), plan_for(crew)),
                {.most_examples = kBatch});
  runner.upload(some_weights());
  try {
    for (int i = 0; i < steps; ++i) EXPECT_TRUE(runner.step(kExamples.input()).finite);
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::device);
    return error.what();
  }
  return "no error";
}

void never_stuck(const std::string& text) { ADD_FAILURE() << text; }

TEST(Crew, AFailureReachesTheCallerWithDeviceStepAndInstruction) {
  Crew crew(devices_with({.kind = Drill::Kind::fail, .step = 2}),
            {.timeout = kNever, .on_stuck = never_stuck, .share_cores = true});
  EXPECT_EQ(error_of(crew, 3), "cpu:1: step 2, load of input: drill: the device was told to fail here");
}

TEST(Crew, AFailureCanBeInAnyLayerOrSegment) {
  const std::pair<const char*, const char*> places[] = {{"relu1", "forward of conv1+relu1"},
                                                        {"linear1", "forward of linear1"},
                                                        {"loss", "loss of loss"},
                                                        {"prepare", "prepare of conv1.weight"},
                                                        {"check", "check"},
                                                        {"update", "update of conv1.weight"}};
  for (const auto& [instruction, text] : places) {
    Crew crew(devices_with({.kind = Drill::Kind::fail, .instruction = instruction}),
              {.timeout = kNever, .on_stuck = never_stuck, .share_cores = true});
    EXPECT_THAT(error_of(crew, 1), testing::StartsWith("cpu:1: step 1, " + std::string(text) + ": drill"));
  }
}

TEST(Crew, ACrewThatFailedRunsNoFurtherStep) {
  Crew crew(devices_with({.kind = Drill::Kind::fail}),
            {.timeout = kNever, .on_stuck = never_stuck, .share_cores = true});
  const std::string first = error_of(crew, 1);
  EXPECT_THROW(crew.run([](int) {}), Error);
}

TEST(Crew, AHangIsReportedWithWhoDoesWhatAndWhoWaits) {
  std::promise<void> released;
  std::string report;
  Crew crew(devices_with({.kind = Drill::Kind::hang, .step = 2}, [&] { released.get_future().wait(); }),
            {.timeout = 300ms,
             .on_stuck =
                 [&](const std::string& text) {
                   report = text;
                   released.set_value();
                 },
             .share_cores = true});
  const std::string error = error_of(crew, 3);
  EXPECT_EQ(error, report);
  EXPECT_THAT(error,
              testing::StartsWith("no progress for 0.3 s: cpu:1 (step 2, load of input); held up by it: "));
  EXPECT_THAT(error, HasSubstr("held up by it: cpu:0 (step 2, mean of 3 into loss, waiting for "
                               "cpu:1); cpu:2 (step 2, "));
  EXPECT_THAT(error, testing::EndsWith(", waiting for cpu:1)"));
  EXPECT_THAT(error, testing::Not(HasSubstr("\n")));
}

// Whose numbers cannot be had.
class SilentDevice final : public device::PassingDevice {
 public:
  SilentDevice(std::unique_ptr<device::Device> inner, std::function<void()> hang)
      : PassingDevice(*inner), inner_(std::move(inner)), hang_(std::move(hang)) {}

  std::unique_ptr<device::Executable> load(const program::Program& program,
                                           const device::LoadOptions& options) override {
    return std::make_unique<Executable>(inner_->load(program, options), hang_);
  }

 private:
  class Executable final : public device::PassingExecutable {
   public:
    Executable(std::unique_ptr<device::Executable> inner, const std::function<void()>& hang)
        : PassingExecutable(std::move(inner)), hang_(hang) {}
    void download(program::BufferId, std::span<float>) const override { hang_(); }

   private:
    const std::function<void()>& hang_;
  };

  const std::unique_ptr<device::Device> inner_;
  const std::function<void()> hang_;
};

TEST(Crew, ADeviceThatDoesNotGiveItsWeightsIsReported) {
  std::promise<void> released;
  auto devices = cpu::make_cpu_devices({.names = {"cpu:0", "cpu:1"}, .threads = 1, .bind = false});
  devices[1] = std::make_unique<SilentDevice>(std::move(devices[1]), [&] { released.get_future().wait(); });
  Crew crew(
      std::move(devices),
      {.timeout = 300ms, .on_stuck = [&](const std::string&) { released.set_value(); }, .share_cores = true});
  const Runner runner(crew, data_parallel(program::compile_training(two_layers()), plan_for(crew)),
                      {.most_examples = kBatch});
  EXPECT_EQ(refusal_of(Fault::device, [&] { runner.download(1); }),
            "no progress for 0.3 s: cpu:1 (outside of training)");
}

// The runner that failed is gone, and with it the instruction at which it did.
TEST(Crew, TheWatchSaysNothingOfWorkThatIsOver) {
  std::promise<void> released;
  std::string report;
  Crew crew(devices_with({.kind = Drill::Kind::fail, .step = 2}), {.timeout = 1s,
                                                                   .on_stuck =
                                                                       [&](const std::string& text) {
                                                                         if (report.empty())
                                                                           released.set_value();
                                                                         report = text;
                                                                       },
                                                                   .share_cores = true});
  EXPECT_THAT(error_of(crew, 3), HasSubstr("step 2, load of input"));
  EXPECT_THROW(crew.run([&](int device) {
    if (device == 1) released.get_future().wait();
  }),
               Error);
  EXPECT_EQ(report, "no progress for 1 s: cpu:1 (step 2)");
}

TEST(Crew, WhatIsNoErrorIsOurDefect) {
  Crew crew(devices_with({}), {.timeout = kNever, .on_stuck = never_stuck, .share_cores = true});
  EXPECT_EQ(
      refusal_of(
          Fault::ours,
          [&] { crew.run([](int device) { std::vector<int>(1).at(static_cast<std::size_t>(device) % 2); }); })
          .substr(0, 28),
      "cpu:1: outside of training: ");
  Crew other(devices_with({}), {.timeout = kNever, .on_stuck = never_stuck, .share_cores = true});
  EXPECT_THROW(other.run([](int device) {
    if (device == 1) throw 7;
  }),
               int);
}

Weights weights_of(Crew& crew, int device, int steps) {
  Runner runner(crew, data_parallel(program::compile_training(two_layers()), plan_for(crew)),
                {.most_examples = kBatch});
  runner.upload(some_weights());
  for (int i = 0; i < steps; ++i) EXPECT_TRUE(runner.step(kExamples.input()).finite);
  return runner.download(device);
}

Weights healthy_weights(int steps) {
  const auto device = cpu::make_cpu_device({.threads = 1});
  Crew crew(std::vector<device::Device*>{device.get()});
  return weights_of(crew, 0, steps);
}

TEST(Crew, ASlowDeviceIsNotReportedAndChangesNoBit) {
  for (int device = 0; device < kDevices; ++device) {
    Crew crew(devices_with({.kind = Drill::Kind::slow, .step = 2}),
              {.timeout = 20s, .on_stuck = never_stuck, .share_cores = true});
    EXPECT_THAT(weights_of(crew, device, 3), SameBits(healthy_weights(3)));
  }
}

TEST(Crew, AFlippedBitIsInOneReplicaOnly) {
  Weights flipped = healthy_weights(2);
  float& victim = flipped.back()[0];
  victim = std::bit_cast<float>(std::bit_cast<std::uint32_t>(victim) ^ 1U);
  for (int device = 0; device < kDevices; ++device) {
    Crew crew(devices_with({.kind = Drill::Kind::flip, .step = 2}), {.share_cores = true});
    EXPECT_THAT(weights_of(crew, device, 2), SameBits(device == 1 ? flipped : healthy_weights(2))) << device;
  }
}

TEST(Crew, AnErrorOfLoadReachesTheCaller) {
  Crew crew(devices_with({.kind = Drill::Kind::fail, .instruction = "conv7"}),
            {.timeout = kNever, .on_stuck = never_stuck, .share_cores = true});
  try {
    const Runner runner(crew, data_parallel(program::compile_training(two_layers()), plan_for(crew)),
                        {.most_examples = kBatch});
    ADD_FAILURE() << "loaded";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage);
    EXPECT_THAT(error.what(), HasSubstr("cpu:1"));
    EXPECT_THAT(error.what(), HasSubstr("no layer or segment 'conv7'"));
  }
}

TEST(Crew, EvaluationIsSparedTheDrill) {
  Crew crew(devices_with({.kind = Drill::Kind::fail}), {.share_cores = true});
  Runner runner(crew, data_parallel(program::compile_evaluation(two_layers()), plan_for(crew)),
                {.most_examples = kBatch});
  runner.upload(some_weights());
  EXPECT_TRUE(runner.step(kExamples.input()).finite);
}

}  // namespace
}  // namespace lockstep::run
