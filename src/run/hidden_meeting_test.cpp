// Statistics meet while the ranks work: the owner of a group joins its rows and sends the result in the
// middle of its packs, so another rank need not wait until the owner has done them.
#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "cpu/cpu_device.h"
#include "device/passing_on.h"
#include "program/compile.h"
#include "reference/evaluate.h"
#include "run/runner.h"

namespace lockstep::run {
namespace {

constexpr int kExamples = 64, kPixels = 9;
constexpr std::chrono::seconds kPatience{10};

// Rank 1 owns the sums of the second meeting. It comes to what it does meanwhile before rank 0 makes its
// rows, and has as much to do as it takes rank 0 to get the sums.
struct Race {
  std::atomic<bool> has_factors{false}, came_to_work{false}, missed{false};
};

class RacingExecutable final : public device::PassingExecutable {
 public:
  RacingExecutable(std::unique_ptr<device::Executable> inner, const program::Program& program, int rank,
                   Race& race)
      : PassingExecutable(std::move(inner)), program_(program), rank_(rank), race_(race) {}

  void run(std::size_t segment, const device::StepInput& input, device::Watcher& watcher) override {
    const program::Segment& now = program_.segments[segment];
    const bool makes_rows =
        segment + 1 < program_.segments.size() && program_.segments[segment + 1].name == kMeanwhile;
    if (rank_ == 0 && makes_rows) wait_until(race_.came_to_work, [] {});
    if (rank_ == 0 && now.name == "norm factors") race_.has_factors = true;
    if (rank_ == 1 && now.name == kMeanwhile) {
      race_.came_to_work = true;
      wait_until(race_.has_factors, [&] { watcher.begin(now.instructions.front()); });
    }
    inner().run(segment, input, watcher);
  }

 private:
  static constexpr std::string_view kMeanwhile = "packs meanwhile";

  void wait_until(const std::atomic<bool>& happened, const auto& work) {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (!happened && !race_.missed) {
      work();
      std::this_thread::yield();
      if (std::chrono::steady_clock::now() > end) race_.missed = true;
    }
  }

  const program::Program program_;
  const int rank_;
  Race& race_;
};

class RacingDevice final : public device::PassingDevice {
 public:
  RacingDevice(std::unique_ptr<device::Device> inner, int rank, Race& race)
      : PassingDevice(*inner), inner_(std::move(inner)), rank_(rank), race_(race) {}
  std::unique_ptr<device::Executable> load(const program::Program& program,
                                           const device::LoadOptions& options) override {
    return std::make_unique<RacingExecutable>(inner_->load(program, options), program, rank_, race_);
  }

 private:
  const std::unique_ptr<device::Device> inner_;
  const int rank_;
  Race& race_;
};

TEST(HiddenMeeting, TheOwnerSendsStatisticsWhileItWorks) {
  const model::Model model{.name = "chain",
                           .input = {1, 3, 3},
                           .layers = {{"conv1", model::Conv2d{2, {1, 1}}},
                                      {"bn1", model::BatchNorm{}},
                                      {"relu1", model::Relu{}},
                                      {"flatten1", model::Flatten{}},
                                      {"linear1", model::Linear{3}}}};
  Race race;
  std::vector<std::unique_ptr<device::Device>> devices;
  for (auto& device : cpu::make_cpu_devices({.names = {"cpu:0", "cpu:1"}, .threads = 1, .bind = false})) {
    const auto rank = static_cast<int>(devices.size());
    devices.push_back(std::make_unique<RacingDevice>(std::move(device), rank, race));
  }
  Crew crew(std::move(devices), {.share_cores = true});
  Runner runner(crew, data_parallel(program::compile_training(model), plan_for(crew)),
                {.most_examples = kExamples});
  runner.upload(reference::initial_parameters(model, 3));
  std::vector<std::uint8_t> pixels, labels;
  std::vector<std::uint32_t> order;
  for (std::uint32_t e = 0; e < kExamples; ++e) {
    order.push_back(e);
    labels.push_back(static_cast<std::uint8_t>(e % 3));
    for (std::uint32_t p = 0; p < kPixels; ++p) pixels.push_back(static_cast<std::uint8_t>(e * 41 + p * 7));
  }
  EXPECT_TRUE(runner.step({{pixels.data(), labels.data(), order}, {0.1f}}).finite);
  EXPECT_TRUE(race.came_to_work) << "no work is left for the time in which statistics travel";
  EXPECT_FALSE(race.missed) << "rank 0 waited until rank 1 had done its packs";
}

}  // namespace
}  // namespace lockstep::run
