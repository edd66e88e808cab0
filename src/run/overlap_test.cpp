// The exchange in several buckets, while packs are still computed: what a run takes where cores suffice.
// Cases are drawn; every replica has the bits of the naive twin after every step. Made for the thread
// sanitizer, too.
#include <atomic>
#include <chrono>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "arithmetic/optimizer.h"
#include "base/same_bits_for_test.h"
#include "cpu/cpu_device.h"
#include "device/passing_on.h"
#include "program/compile.h"
#include "reference/step.h"
#include "reference/update.h"
#include "run/runner.h"
#include "run/state_for_test.h"

namespace lockstep::run {
namespace {

namespace exchange = program::exchange;

constexpr unsigned kCases = 60;
constexpr float kRate = 0.1f;

// How a device dawdles, and whether it sent something before all of its sums were complete.
struct Pace {
  std::atomic<std::uint32_t> state{1};  // any thread of the device
  std::atomic<int> early{0};

  // Mostly nothing; now and then long enough that the others get ahead.
  void dawdle() {
    const std::uint32_t draw = (state += 0x9e3779b9U) * 0x85ebca6bU >> 16;
    if (draw % 16 == 0) std::this_thread::sleep_for(std::chrono::microseconds(draw % 251));
    if (draw % 16 < 4) std::this_thread::yield();
  }
};

class DawdlingExecutable final : public device::PassingExecutable {
 public:
  DawdlingExecutable(std::unique_ptr<device::Executable> inner, const program::Program& program, Pace& pace)
      : PassingExecutable(std::move(inner)), pace_(pace) {
    for (const program::Instruction& instruction : program::packs_of(program).instructions)
      events_ += instruction.signals.size();
  }

  void run(std::size_t segment, const device::StepInput& input, device::Watcher& watcher) override {
    if (segment == 0) signalled_ = 0;
    DawdlingWatcher dawdling(watcher, *this);
    inner().run(segment, input, dawdling);
  }
  void publish(std::span<const device::Transfer> transfers) override {
    if (signalled_ < events_) ++pace_.early;
    PassingExecutable::publish(transfers);
  }

 private:
  struct DawdlingWatcher final : device::Watcher {
    DawdlingWatcher(device::Watcher& to, DawdlingExecutable& of) : watcher(to), executable(of) {}
    void begin(const program::Instruction& instruction) override {
      executable.pace_.dawdle();
      watcher.begin(instruction);
    }
    void signal(program::EventId event) override {
      ++executable.signalled_;
      watcher.signal(event);
      executable.pace_.dawdle();
    }
    device::Watcher& watcher;
    DawdlingExecutable& executable;
  };

  Pace& pace_;
  std::size_t events_ = 0;  // of the packs
  std::atomic<std::size_t> signalled_{0};
};

class DawdlingDevice final : public device::PassingDevice {
 public:
  DawdlingDevice(std::unique_ptr<device::Device> inner, Pace& pace)
      : PassingDevice(*inner), inner_(std::move(inner)), pace_(pace) {}
  std::unique_ptr<device::Executable> load(const program::Program& program,
                                           const device::LoadOptions& options) override {
    return std::make_unique<DawdlingExecutable>(inner_->load(program, options), program, pace_);
  }

 private:
  const std::unique_ptr<device::Device> inner_;
  Pace& pace_;
};

struct Case {
  explicit Case(unsigned seed) : random(seed) {
    devices = draw(2, 3);
    threads = draw(1, 3) == 1 ? 2 : 1;
    bucket = std::array<std::size_t, 5>{1, 20, 300, 2000, 100000}[static_cast<std::size_t>(draw(0, 4))];
    kind =
        &exchange::kinds()[static_cast<std::size_t>(draw(0, static_cast<int>(exchange::kinds().size()) - 1))];
    shard = draw(0, 2) == 0;
    momentum = draw(0, 1) == 0 ? 0.0f : 0.9f;
    order = draw(0, 3) == 0 ? device::Order::layer : device::Order::pack;
    for (int step = 0; step < 3; ++step) batches.push_back(static_cast<std::size_t>(draw(1, 130)));
    model = {"drawn",
             {1, 8, 8},
             {{"conv1", model::Conv2d{draw(1, 5), {3, 3}}},
              {"relu1", model::Relu{}},
              {"pool1", model::AvgPool{{2, 2}, {2, 2}}},
              {"flatten1", model::Flatten{}},
              {"linear1", model::Linear{draw(1, 70)}},
              {"relu2", model::Relu{}},
              {"linear2", model::Linear{4}}},
             0.3};
  }
  int draw(int least, int most) { return std::uniform_int_distribution(least, most)(random); }

  std::mt19937 random;
  int devices, threads;
  std::size_t bucket;  // elements
  const exchange::Kind* kind;
  bool shard;
  float momentum;
  device::Order order;
  std::vector<std::size_t> batches;
  model::Model model;
};

constexpr std::size_t kExamples = 130, kPixels = 64;

struct Examples {
  std::vector<std::uint8_t> pixels, labels;
  std::vector<std::uint32_t> order;
  explicit Examples(std::mt19937& random) {
    for (std::size_t e = 0; e < kExamples; ++e) {
      order.push_back(static_cast<std::uint32_t>(kExamples - 1 - e));
      labels.push_back(static_cast<std::uint8_t>(random() % 4));
      for (std::size_t p = 0; p < kPixels; ++p) pixels.push_back(static_cast<std::uint8_t>(random()));
    }
  }
};

Weights twin_step(const Case& c, const Examples& examples, std::size_t batch, Weights weights,
                  Weights& velocity) {
  std::vector<float> images;
  std::vector<std::uint8_t> labels;
  for (const std::uint32_t e : std::span(examples.order).first(batch)) {
    for (std::size_t p = 0; p < kPixels; ++p)
      images.push_back(static_cast<float>(examples.pixels[e * kPixels + p]) / 255.0f);
    labels.push_back(examples.labels[e]);
  }
  const auto step = reference::train_step(c.model, weights, {images, labels}, kRate);
  if (c.momentum == 0) return step.parameters;
  for (std::size_t i = 0; i < weights.size(); ++i)
    reference::momentum_sgd(weights[i], velocity[i], step.gradients[i], {kRate, c.momentum});
  return weights;
}

// Returns how often a device sent something while it still had sums to complete.
int run_case(Case& c, unsigned seed) {
  std::vector<std::string> names;
  for (int d = 0; d < c.devices; ++d) names.push_back("cpu:" + std::to_string(d));
  auto devices = cpu::make_cpu_devices({.names = names, .threads = c.threads, .bind = false});
  Pace pace;
  pace.state = seed;
  for (auto& device : devices) device = std::make_unique<DawdlingDevice>(std::move(device), pace);
  Crew crew(std::move(devices), {});  // with cores of their own: no rank waits before it has looked around
  Runner runner(
      crew,
      data_parallel(
          program::compile_training(c.model, {.rule = arithmetic::sgd_with_momentum(c.momentum).kind}),
          {.ranks = c.devices, .exchange = c.kind, .shard_optimizer = c.shard, .smallest_bucket = c.bucket}),
      {.most_examples = static_cast<int>(kExamples), .order = c.order});
  const Examples examples(c.random);
  Weights weights = reference::initial_parameters(c.model, seed), velocity;
  for (const std::vector<float>& tensor : weights) velocity.emplace_back(tensor.size(), 0.0f);
  runner.upload(weights);
  for (const std::size_t batch : c.batches) {
    weights = twin_step(c, examples, batch, weights, velocity);
    const StepResult result =
        runner.step({{examples.pixels.data(), examples.labels.data(), std::span(examples.order).first(batch)},
                     {kRate, c.momentum}});
    EXPECT_TRUE(result.finite);
    EXPECT_FALSE(result.finding);
    for (int d = 0; d < c.devices; ++d) {
      const Weights found = runner.download(d);
      for (std::size_t i = 0; i < weights.size(); ++i)
        EXPECT_EQ(hash128(std::as_bytes(std::span(found[i]))), hash128(std::as_bytes(std::span(weights[i]))))
            << "device " << d << ", tensor " << i;
    }
  }
  if (c.momentum != 0) weights.insert(weights.end(), velocity.begin(), velocity.end());
  EXPECT_THAT(numbers_of(runner.state()), SameBits(weights));
  return pace.early;
}

TEST(OverlappedExchange, EveryReplicaHasTheTwinsBitsWhateverTheGroups) {
  for (unsigned seed = 1; seed <= kCases && !testing::Test::HasFailure(); ++seed) {
    Case c(seed);
    SCOPED_TRACE(testing::Message() << "case " << seed << ": " << c.devices << " devices of " << c.threads
                                    << ", buckets of " << c.bucket << ", " << c.kind->name
                                    << (c.shard ? ", sharded optimizer" : "") << ", momentum " << c.momentum);
    const int early = run_case(c, seed);
    std::size_t all = 0;
    for (const model::Parameter& parameter : model::parameters_of(c.model)) all += parameter.elements();
    if (c.bucket > all) {
      EXPECT_EQ(early, 0) << "one bucket is sent when all of it is complete";
    } else if (c.bucket == 1) {
      EXPECT_GT(early, 0) << "nothing was sent beside the work: the exchange did not overlap";
    }
  }
}

}  // namespace
}  // namespace lockstep::run
