// Every replica has the bits of the naive twin, whatever the number of devices, threads and the exchange.
#include <algorithm>
#include <array>
#include <numeric>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/same_bits_for_test.h"
#include "cpu/cpu_device.h"
#include "program/compile.h"
#include "reference/step.h"
#include "reference/update.h"
#include "run/runner.h"
#include "run/state_for_test.h"

namespace lockstep::run {
namespace {

namespace exchange = program::exchange;
using arithmetic::UpdateKind;

model::Model small_model() {
  return {"small",
          {1, 8, 8},
          {{"conv1", model::Conv2d{5, {3, 3}}},
           {"relu1", model::Relu{}},
           {"pool1", model::AvgPool{{2, 2}, {2, 2}}},
           {"flatten1", model::Flatten{}},
           {"linear1", model::Linear{67}},
           {"relu2", model::Relu{}},
           {"linear2", model::Linear{4}}},
          0.3};
}

constexpr std::size_t kMost = 17 * 16, kPixels = 64;

struct Examples {
  std::vector<std::uint8_t> pixels, labels;
  std::vector<std::uint32_t> order;
  explicit Examples(std::size_t count) {
    for (std::size_t e = 0; e < count; ++e) {
      order.push_back(static_cast<std::uint32_t>((e * 7) % count));
      labels.push_back(static_cast<std::uint8_t>(e * 5 % 4));
      for (std::size_t p = 0; p < kPixels; ++p)
        pixels.push_back(static_cast<std::uint8_t>((e * 37 + p * p * 11) % 251));
    }
  }
  device::StepInput input(std::size_t count) const {
    return {{pixels.data(), labels.data(), std::span(order).first(count)}, {0.1f}};
  }
};

// The same for the twin.
struct TwinBatch {
  std::vector<float> images;
  std::vector<std::uint8_t> labels;
  TwinBatch(const Examples& examples, std::size_t count) {
    for (const std::uint32_t e : std::span(examples.order).first(count)) {
      for (std::size_t p = 0; p < kPixels; ++p)
        images.push_back(static_cast<float>(examples.pixels[e * kPixels + p]) / 255.0f);
      labels.push_back(examples.labels[e]);
    }
  }
  reference::Batch batch() const { return {images, labels}; }
};

const Examples kExamples(kMost);
constexpr std::array<std::size_t, 4> kBatches{256, 96, 1, 50};

struct Devices {
  std::vector<std::unique_ptr<device::Device>> owned;
  std::unique_ptr<Crew> crew;
  Devices(int count, int threads) {
    std::vector<std::string> names;
    for (int d = 0; d < count; ++d) names.push_back("cpu:" + std::to_string(d));
    crew = std::make_unique<Crew>(cpu::make_cpu_devices({.names = names, .threads = threads, .bind = false}),
                                  Crew::Options{.share_cores = true});
  }
};

Programs programs_by(UpdateKind rule, const Crew& crew, program::DataPlan plan = {}) {
  return data_parallel(program::compile_training(small_model(), {.rule = rule}),
                       plan_for(crew, std::move(plan)));
}

Weights twin_after_all_batches() {
  Weights weights = reference::initial_parameters(small_model(), 3);
  for (const std::size_t batch : kBatches) {
    weights =
        reference::train_step(small_model(), weights, TwinBatch(kExamples, batch).batch(), 0.1f).parameters;
  }
  return weights;
}

TEST(DataParallel, EveryReplicaEqualsTheNaiveTwin) {
  const Weights expected = twin_after_all_batches();
  const program::Program program = program::compile_training(small_model());
  for (const exchange::Kind& kind : exchange::kinds()) {
    for (const auto& [devices, threads] : {std::pair{1, 1},
                                           {1, 3},
                                           {2, 1},
                                           {2, 2},
                                           {3, 1},
                                           {3, 2},
                                           {5, 1},
                                           {8, 1},
                                           {16, 1},
                                           {17, 1},
                                           {20, 1}}) {
      for (const device::Order order : {device::Order::pack, device::Order::layer}) {
        Devices set(devices, threads);
        Runner runner(*set.crew, data_parallel(program, plan_for(*set.crew, {.exchange = &kind})),
                      {.most_examples = 256, .order = order});
        runner.upload(reference::initial_parameters(small_model(), 3));
        for (const std::size_t batch : kBatches) {
          const StepResult result = runner.step(kExamples.input(batch));
          EXPECT_TRUE(result.finite);
          std::int64_t seen = 0;
          for (const std::int64_t count : result.seen) seen += count;
          EXPECT_EQ(seen, static_cast<std::int64_t>(batch));
        }
        for (int device = 0; device < devices; ++device) {
          ASSERT_THAT(runner.download(device), SameBits(expected))
              << kind.name << ", device " << device << " of " << devices << ", " << threads << " threads";
        }
      }
    }
  }
}

// Some devices get nothing of a small minibatch, not always the last ones; one that gets all of every
// minibatch still has others to exchange with.
TEST(DataParallel, AnySharesGiveTheBitsOfEqualOnes) {
  const Weights expected = twin_after_all_batches();
  const program::Program program = program::compile_training(small_model());
  for (const exchange::Kind& kind : exchange::kinds()) {
    for (const std::vector<double>& shares : {std::vector{3.0, 1.0},
                                              {1.0, 6.5},
                                              {1.0, 1000.0},
                                              {1000.0, 1.0},
                                              {1.0, 5.0, 2.0},
                                              {0.1, 8.0, 0.1, 3.0, 2.0}}) {
      for (const int threads : {1, 2}) {
        const auto devices = static_cast<int>(shares.size());
        Devices set(devices, threads);
        Runner runner(*set.crew,
                      data_parallel(program, plan_for(*set.crew, {.exchange = &kind, .shares = shares})),
                      {.most_examples = 256});
        runner.upload(reference::initial_parameters(small_model(), 3));
        for (const std::size_t batch : kBatches) {
          const StepResult result = runner.step(kExamples.input(batch));
          EXPECT_EQ(std::accumulate(result.packs.begin(), result.packs.end(), 0),
                    arithmetic::pack_count(static_cast<int>(batch)));
        }
        for (int device = 0; device < devices; ++device)
          EXPECT_THAT(runner.download(device), SameBits(expected))
              << kind.name << ", device " << device << " of " << devices << " with shares "
              << testing::PrintToString(shares);
      }
    }
  }
  Devices set(2, 1);
  Runner runner(*set.crew, data_parallel(program, plan_for(*set.crew, {.shares = {3, 1}})),
                {.most_examples = 256});
  runner.upload(reference::initial_parameters(small_model(), 3));
  EXPECT_EQ(runner.step(kExamples.input(256)).packs, (std::vector{12, 4}));
}

TEST(DataParallel, MomentumEqualsTheNaiveTwinAtTheOwnerAndEverywhere) {
  constexpr float kMomentum = 0.9f;
  Weights weights = reference::initial_parameters(small_model(), 3), velocity;
  for (const std::vector<float>& w : weights) velocity.emplace_back(w.size(), 0.0f);
  for (const std::size_t batch : kBatches) {
    const auto step =
        reference::train_step(small_model(), weights, TwinBatch(kExamples, batch).batch(), 0.1f);
    for (std::size_t i = 0; i < weights.size(); ++i)
      reference::momentum_sgd(weights[i], velocity[i], step.gradients[i], {0.1f, kMomentum});
  }
  for (const exchange::Kind& kind : exchange::kinds()) {
    for (const bool shard : {false, true}) {
      for (const int devices : {1, 2, 3, 7}) {
        Devices set(devices, devices == 3 ? 2 : 1);
        const Programs programs =
            programs_by(UpdateKind::momentum, *set.crew, {.exchange = &kind, .shard_optimizer = shard});
        Runner runner(*set.crew, programs, {.most_examples = 256});
        runner.upload(reference::initial_parameters(small_model(), 3));
        for (const std::size_t batch : kBatches) {
          device::StepInput input = kExamples.input(batch);
          input.update.momentum = kMomentum;
          EXPECT_TRUE(runner.step(input).finite);
        }
        for (int d = 0; d < devices; ++d)
          ASSERT_THAT(runner.download(d), SameBits(weights))
              << kind.name << " " << shard << " " << devices << " device " << d;
        Weights state = weights;
        state.insert(state.end(), velocity.begin(), velocity.end());
        EXPECT_THAT(numbers_of(runner.state()), SameBits(state));
        if (!shard) continue;
        std::size_t held = 0, all = 0;
        for (const program::Program& p : programs.make(16)) {
          for (const program::Sum& sum : p.sums) {
            for (const program::BufferId id : sum.states)
              held += p.buffers[static_cast<std::size_t>(id)].elements;
          }
        }
        for (const std::vector<float>& v : velocity) all += v.size();
        EXPECT_EQ(held, all) << "every velocity lives once";
      }
    }
  }
}

Weights initial() { return reference::initial_parameters(small_model(), 3); }

TEST(DataParallel, NoReplicaIsAnAliasOfAnother) {
  Devices set(3, 1);
  Runner runner(*set.crew, programs_by(UpdateKind::sgd, *set.crew), {.most_examples = 256});
  runner.upload(initial());
  runner.step(kExamples.input(50));
  const program::Program& program = runner.program();
  const Weights before = runner.download(0);
  for (const auto* const buffers : {&program.parameters, &program.gradients}) {
    for (const program::BufferId id : *buffers) {
      const std::size_t elements = program.buffers[static_cast<std::size_t>(id)].elements;
      std::vector<float> first(elements), third(elements), now(elements);
      runner.executable(0).download(id, first);
      runner.executable(2).download(id, third);
      runner.executable(1).upload(id, std::vector<float>(elements, 1234.5f));
      runner.executable(0).download(id, now);
      EXPECT_THAT(now, SameBits(first));
      runner.executable(2).download(id, now);
      EXPECT_THAT(now, SameBits(third));
    }
  }
  EXPECT_THAT(runner.download(0), SameBits(before));
  EXPECT_THAT(runner.download(2), SameBits(before));
  EXPECT_NE(runner.download(1), before);
}

// A pointer into a device's own memory from before the step finds the new numbers in it: nothing was put in
// another place.
TEST(DataParallel, AStepWritesTheReplicasOwnMemory) {
  const Weights expected =
      reference::train_step(small_model(), initial(), TwinBatch(kExamples, 50).batch(), 0.1f).parameters;
  for (const bool shard : {false, true}) {
    Devices set(3, 1);
    Runner runner(*set.crew, programs_by(UpdateKind::sgd, *set.crew, {.shard_optimizer = shard}),
                  {.most_examples = 256});
    runner.upload(initial());
    const std::vector<program::BufferId>& ids = runner.program().parameters;
    std::vector<std::span<const float>> memory;  // by device, then parameter
    for (int device = 0; device < 3; ++device) {
      for (const program::BufferId id : ids) memory.push_back(runner.executable(device).parameter(id));
    }
    runner.step(kExamples.input(50));
    for (std::size_t i = 0; i < memory.size(); ++i) {
      EXPECT_THAT(std::vector(memory[i].begin(), memory[i].end()), SameBits(expected[i % ids.size()]))
          << "device " << i / ids.size() << (shard ? ", sharded optimizer" : "");
    }
  }
}

// 50 examples over three devices are 32, 16 and 2: the mean of the devices' means is another number.
TEST(DataParallel, UnequalSharesAreNotAMeanOfMeans) {
  const TwinBatch all(kExamples, 50);
  const auto step_on = [&](std::size_t first, std::size_t count) {
    return reference::train_step(small_model(), initial(),
                                 {std::span(all.images).subspan(first * kPixels, count * kPixels),
                                  std::span(all.labels).subspan(first, count)},
                                 0.1f);
  };
  const std::array shares{step_on(0, 32), step_on(32, 16), step_on(48, 2)};
  Weights mean_of_means = initial();
  for (std::size_t p = 0; p < mean_of_means.size(); ++p) {
    std::vector<float> mean(mean_of_means[p].size(), 0.0f);
    for (std::size_t i = 0; i < mean.size(); ++i)
      mean[i] = (shares[0].gradients[p][i] + shares[1].gradients[p][i] + shares[2].gradients[p][i]) / 3.0f;
    reference::sgd(mean_of_means[p], mean, 0.1f);
  }
  Devices set(3, 1);
  Runner runner(*set.crew, programs_by(UpdateKind::sgd, *set.crew), {.most_examples = 50});
  runner.upload(initial());
  const StepResult result = runner.step(kExamples.input(50));
  const auto expected = step_on(0, 50);
  EXPECT_THAT(result.loss, SameBits(expected.loss));
  EXPECT_NE(result.loss, (shares[0].loss + shares[1].loss + shares[2].loss) / 3.0f);
  for (int device = 0; device < 3; ++device) {
    const Weights found = runner.download(device);
    EXPECT_THAT(found, SameBits(expected.parameters));
    for (std::size_t p = 0; p < found.size(); ++p) EXPECT_NE(found[p], mean_of_means[p]) << p;
  }
}

// Of every rule, whole and sharded.
TEST(DataParallel, AStateReachesItsOwnersAndComesBack) {
  for (const arithmetic::UpdateRule& rule : arithmetic::kUpdateRules) {
    const State state = numbered_state(small_model(), rule.kind);
    for (const exchange::Kind& kind : exchange::kinds()) {
      for (const bool shard : {false, true}) {
        SCOPED_TRACE(fmt::format("{}, {}, sharded {}", rule.name, kind.name, shard));
        Devices set(3, 1);
        Runner runner(*set.crew,
                      programs_by(rule.kind, *set.crew, {.exchange = &kind, .shard_optimizer = shard}),
                      {.most_examples = 50});
        runner.upload(state);
        const State back = runner.state();
        EXPECT_THAT(numbers_of(back), SameBits(numbers_of(state)));
        for (std::size_t t = 0; t < state.size(); ++t) {
          EXPECT_EQ(back[t].name, state[t].name);
          if (shard) continue;
          std::vector<float> held(state[t].numbers.size());
          for (int device = 0; device < 3; ++device) {
            runner.executable(device).download(runner.program().state[t].buffer, held);
            EXPECT_THAT(held, SameBits(state[t].numbers)) << state[t].name << " on device " << device;
          }
        }
      }
    }
  }
}

TEST(DataParallel, AStateOfAnotherRuleIsNotTaken) {
  Devices set(2, 1);
  Runner runner(*set.crew, programs_by(UpdateKind::sgd, *set.crew), {.most_examples = 50});
  EXPECT_THROW(runner.upload(numbered_state(small_model(), UpdateKind::momentum)), Error);
}

// Where one tensor alone overflows, its owner alone sees it.
TEST(DataParallel, AGradientThatIsNotFiniteInOneShardStopsEveryDevice) {
  Examples examples(50);
  std::ranges::fill(examples.labels, std::uint8_t{0});
  Weights weights = initial();
  const std::size_t linear1_bias = 3, linear2_weight = 4;
  std::ranges::fill(weights[linear1_bias], 3e38f);
  std::ranges::fill(weights[linear2_weight], 0.0f);
  for (const exchange::Kind& kind : exchange::kinds()) {
    for (const bool shard : {false, true}) {
      Devices set(3, 1);
      Runner runner(
          *set.crew,
          programs_by(UpdateKind::momentum, *set.crew, {.exchange = &kind, .shard_optimizer = shard}),
          {.most_examples = 50});
      runner.upload(weights);
      EXPECT_FALSE(runner.step(examples.input(50)).finite) << kind.name << " " << shard;
      for (int device = 0; device < 3; ++device)
        EXPECT_THAT(runner.download(device), SameBits(weights)) << device;
    }
  }
}

}  // namespace
}  // namespace lockstep::run
