// Any model, any minibatch, any devices: every replica has the bits of the naive twin. Cases are drawn at
// random, from another seed in every run; one that fails is made as small as it can be before it is shown.
#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <random>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "program/compile.h"
#include "property/case_devices.h"
#include "property/census.h"
#include "property/draw.h"
#include "property/twin.h"
#include "run/runner.h"
#include "run/state_for_test.h"
#include "train/check_groups.h"

namespace lockstep::property {
namespace {

namespace exchange = program::exchange;

// A hang is found in the end; a driver on a busy machine may compile a kernel for half a minute in the middle
// of a step.
constexpr std::chrono::seconds kPatience(120);

std::size_t buckets(const program::Program& step, const program::DataPlan& plan) {
  std::vector<std::size_t> sizes;
  sizes.reserve(step.sums.size());
  for (const program::Sum& sum : step.sums)
    sizes.push_back(step.buffers[static_cast<std::size_t>(sum.partial)].elements);
  return exchange::buckets_of(sizes, plan.smallest_bucket).size();
}

// Would a training take these minibatches?
void expect_legal_groups(const Case& c) {
  const auto [least, most] = std::minmax({examples(c, 0), examples(c, 1)});
  train::check_groups(model_of(c), most, static_cast<std::size_t>(least) + static_cast<std::size_t>(most));
}

// Has each device the twin's bits in every part of the state that it keeps? Then its replica is the twin's,
// and so are the states of the update rule: all of them, or the device's shard.
void expect_states(run::Runner& runner, std::span<const program::Program> programs,
                   const std::vector<Tensor>& twin) {
  std::vector<std::string> different(programs.size());
  runner.crew().run([&](int device) {
    const auto d = static_cast<std::size_t>(device);
    for (std::size_t t = 0; t < twin.size(); ++t) {
      const program::StatePart& part = programs[d].state.at(t);
      Tensor found(programs[d].buffers[static_cast<std::size_t>(part.buffer)].elements);
      runner.executable(device).download(part.buffer, found);
      const auto first = twin[t].begin() + static_cast<std::ptrdiff_t>(part.first);
      if (bits({found}) != bits({Tensor(first, first + static_cast<std::ptrdiff_t>(found.size()))}))
        different[d] = part.tensor.name;
    }
  });
  for (std::size_t d = 0; d < different.size(); ++d) {
    if (!different[d].empty()) RC_FAIL(fmt::format("device {} differs in {}", d, different[d]));
  }
}

// A step that is not finite is refused by all devices, and their parameters and states stay what they were.
Outcome expect_twins(const Case& c) {
  expect_legal_groups(c);
  const CaseDevices devices(c);
  RC_LOG() << "devices " << devices.kinds_text() << std::endl;
  run::Crew crew(devices.all(), {.timeout = kPatience, .share_cores = true});
  const program::Program whole =
      program::compile_training(model_of(c), {.fuse = c.unfused == 0, .rule = rule_of(c)});
  program::DataPlan plan{.exchange = &exchange::kind_named(c.star != 0 ? "star" : "sharded"),
                         .shard_optimizer = c.shard_optimizer != 0,
                         .shares = shares(c)};
  if (c.bucket != 0) plan.smallest_bucket = static_cast<std::size_t>(c.bucket);
  plan = run::plan_for(crew, plan);
  const run::Programs programs = run::data_parallel(whole, plan);
  run::Runner runner(crew, programs,
                     {.most_examples = most_examples(c),
                      .last_examples = c.last != 0 ? examples(c, 1) : 0,
                      .order = c.layer_order != 0 ? device::Order::layer : device::Order::pack,
                      .of_free_memory = std::ldexp(device::LoadOptions{}.of_free_memory, -c.memory)});
  const std::vector<program::Program> largest = programs.make(arithmetic::pack_count(most_examples(c)));
  Twin twin(c);
  runner.upload(run::with_numbers(run::initial_state(model_of(c), rule_of(c), twin.weights()), twin.state()));
  const Examples set(c);
  Outcome outcome{.gpu_kind = devices.gpu_kind(), .gpus = devices.gpus()};
  outcome.buckets = buckets(whole, plan);
  for (std::size_t step = 0; step < kSteps; ++step) {
    const run::StepResult result = runner.step(set.input(c, step));
    const bool finite = twin.step(set);
    RC_ASSERT(result.finite == finite);
    if (finite)
      RC_ASSERT(std::bit_cast<std::uint32_t>(result.loss) == std::bit_cast<std::uint32_t>(twin.loss()));
    RC_LOG() << "step " << step + 1 << std::endl;
    expect_states(runner, largest, twin.state());
    const bool state_equals_the_twin = bits(run::numbers_of(runner.state())) == bits(twin.state());
    RC_ASSERT(state_equals_the_twin);
    outcome.packs.push_back(result.packs);
    outcome.refused |= !finite;
    outcome.overflowed |= !twin.finite();
    if (outcome.overflowed) break;
  }
  outcome.denormal = twin.saw_denormal();
  outcome.negative_zero = twin.saw_negative_zero();
  return outcome;
}

constexpr int kUsualCases = 1000;

// Real networks have many layers and skip some of them.
constexpr int kLeastMedian = 8;         // layers of a model
constexpr double kLeastWithSkip = 0.3;  // part of the cases
constexpr double kLeastWithNorm = 0.3;

// RapidCheck reads its settings from RC_PARAMS, once; what stands there already wins. Returns how to repeat
// the run.
std::string configure() {
  // NOLINTBEGIN(concurrency-mt-unsafe): there is no other thread yet
  const char* const cases_text = std::getenv("LOCKSTEP_PROPERTY_CASES");
  const char* const seed_text = std::getenv("LOCKSTEP_PROPERTY_SEED");
  const char* const wanted = std::getenv("RC_PARAMS");
  const std::string cases = cases_text != nullptr ? cases_text : std::to_string(kUsualCases);
  const std::string seed = seed_text != nullptr ? seed_text : std::to_string(std::random_device{}());
  const std::string parameters = wanted != nullptr ? wanted : "";
  setenv("RC_PARAMS", fmt::format("seed={} max_success={} {}", seed, cases, parameters).c_str(), 1);
  // NOLINTEND(concurrency-mt-unsafe)
  return fmt::format("LOCKSTEP_PROPERTY_SEED={} LOCKSTEP_PROPERTY_CASES={}{} property_test", seed, cases,
                     parameters.empty() ? "" : fmt::format(" RC_PARAMS='{}'", parameters));
}

std::vector<std::string> gpu_kind_names() {
  std::vector<std::string> names;
  for (const GpuKind* kind : present_gpu_kinds()) names.emplace_back(kind->name);
  return names;
}

class Property : public testing::Test {
 protected:
  static void TearDownTestSuite() {
    for (GpuKind& kind : gpu_kinds()) kind.devices.clear();
  }
};

TEST_F(Property, EveryReplicaEqualsTheNaiveTwin) {
  const std::string repeat = configure();
  std::cout << "This run again: " << repeat << std::endl;
  Census census(gpu_kind_names());
  EXPECT_TRUE(rc::check("every replica equals the naive twin",
                        [&] {
                          const Case c = *any_case();
                          census.count(c, expect_twins(c));
                        }))
      << "this run again: " << repeat;
  std::cout << census;
  if (census.cases() < kUsualCases) return;  // too few to ask for everything
  EXPECT_GE(census.median_layers(), kLeastMedian) << "this run again: " << repeat;
  EXPECT_GE(census.part_with_skip(), kLeastWithSkip) << "this run again: " << repeat;
  EXPECT_GE(census.part_with_norm(), kLeastWithNorm) << "this run again: " << repeat;
  EXPECT_THAT(census.too_seldom(), testing::IsEmpty())
      << "too few cases had this; this run again: " << repeat;
}

}  // namespace
}  // namespace lockstep::property
