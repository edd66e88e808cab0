// Ranks compute at the same time. Statistics of a batch norm travel between two segments; once they have met,
// no rank waits until another one has computed its next segment, too.
#include <algorithm>

#include <gtest/gtest.h>

#include "base/mutex.h"
#include "cpu/cpu_device.h"
#include "device/passing_on.h"
#include "program/compile.h"
#include "run/runner.h"

namespace lockstep::run {
namespace {

constexpr int kExamples = 80;
constexpr std::chrono::seconds kPatience{10};

// All ranks come here at the start of a segment, and none goes on alone.
class MeetingPlace {
 public:
  explicit MeetingPlace(int ranks) : ranks_(ranks) {}

  void come() {
    Lock lock(mutex_);
    const int turn = turn_;
    if (++here_ == ranks_) {
      here_ = 0;
      ++turn_;
      all_here_.notify_all();
    }
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (turn == turn_ && !missed_) {
      const auto left = end - std::chrono::steady_clock::now();
      if (left.count() > 0) {
        all_here_.wait_for(lock, left);
      } else {
        missed_ = true;
        all_here_.notify_all();
      }
    }
  }
  bool missed() const {
    const Lock lock(mutex_);
    return missed_;
  }
  int turns() const {
    const Lock lock(mutex_);
    return turn_;
  }

 private:
  const int ranks_;
  mutable Mutex mutex_;
  Condition all_here_;
  int here_ GUARDED_BY(mutex_) = 0, turn_ GUARDED_BY(mutex_) = 0;
  bool missed_ GUARDED_BY(mutex_) = false;  // a rank came alone; nobody waits any more
};

class MeetingExecutable final : public device::PassingExecutable {
 public:
  MeetingExecutable(std::unique_ptr<device::Executable> inner, const program::Program& program,
                    MeetingPlace& place)
      : PassingExecutable(std::move(inner)), program_(program), place_(place) {}
  void run(std::size_t segment, const device::StepInput& input, device::Watcher& watcher) override {
    if (program_.segments[segment].over == program::Segment::Over::packs) place_.come();
    inner().run(segment, input, watcher);
  }

 private:
  const program::Program program_;
  MeetingPlace& place_;
};

class MeetingDevice final : public device::PassingDevice {
 public:
  MeetingDevice(std::unique_ptr<device::Device> inner, MeetingPlace& place)
      : PassingDevice(*inner), inner_(std::move(inner)), place_(place) {}
  std::unique_ptr<device::Executable> load(const program::Program& program,
                                           const device::LoadOptions& options) override {
    return std::make_unique<MeetingExecutable>(inner_->load(program, options), program, place_);
  }

 private:
  const std::unique_ptr<device::Device> inner_;
  MeetingPlace& place_;
};

model::Model normed(int ghost) {
  const auto conv = [](int channels) { return model::Conv2d{channels, {3, 3}, {1, 1}, {1, 1}}; };
  return {.name = "normed",
          .input = {1, 6, 6},
          .layers = {{"conv1", conv(3)},
                     {"norm1", model::BatchNorm{ghost}},
                     {"conv2", conv(5)},
                     {"norm2", model::BatchNorm{ghost}},
                     {"relu2", model::Relu{}},
                     {"conv3", conv(4)},
                     {"norm3", model::BatchNorm{ghost}},
                     {"flatten1", model::Flatten{}},
                     {"linear1", model::Linear{4}}},
          .sigma = 0.3};
}

struct ConcurrentCase {
  int devices, threads, ghost;
};

class ConcurrentRanks : public testing::TestWithParam<ConcurrentCase> {};

TEST_P(ConcurrentRanks, BeginEverySegmentTogether) {
  const auto [devices, threads, ghost] = GetParam();
  std::vector<std::string> names;
  for (int d = 0; d < devices; ++d) names.push_back("cpu:" + std::to_string(d));
  MeetingPlace place(devices);
  std::vector<std::unique_ptr<device::Device>> meeting;
  for (auto& device : cpu::make_cpu_devices({.names = names, .threads = threads, .bind = false}))
    meeting.push_back(std::make_unique<MeetingDevice>(std::move(device), place));
  Crew crew(std::move(meeting), {.share_cores = true});
  const model::Model model = normed(ghost);
  Runner runner(crew, data_parallel(program::compile_training(model), plan_for(crew)),
                {.most_examples = kExamples});
  Weights weights;
  for (const model::Parameter& p : model::parameters_of(model)) {
    std::vector<float>& values = weights.emplace_back(p.elements());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 29 % 17) / 16.0f;
  }
  runner.upload(weights);
  std::vector<std::uint8_t> pixels, labels;
  std::vector<std::uint32_t> order;
  for (std::uint32_t e = 0; e < kExamples; ++e) {
    order.push_back(e);
    labels.push_back(static_cast<std::uint8_t>(e % 4));
    for (std::uint32_t p = 0; p < 36; ++p) pixels.push_back(static_cast<std::uint8_t>(e * 41 + p * p * 7));
  }
  constexpr int kSteps = 2;
  for (int step = 0; step < kSteps; ++step)
    EXPECT_TRUE(runner.step({{pixels.data(), labels.data(), order}, {0.1f}}).finite);
  EXPECT_FALSE(place.missed()) << "a rank waited for what another one had yet to compute";
  // Three batch norms cut a step into four parts forward, and three more backward; behind each of these three
  // stands the gradient of a weight for meanwhile.
  EXPECT_EQ(place.turns(), kSteps * 10);
}

INSTANTIATE_TEST_SUITE_P(Crews, ConcurrentRanks,
                         testing::Values(ConcurrentCase{2, 1, 0}, ConcurrentCase{2, 2, 0},
                                         ConcurrentCase{3, 1, 0}, ConcurrentCase{2, 1, 16},
                                         ConcurrentCase{3, 1, 48}));

}  // namespace
}  // namespace lockstep::run
