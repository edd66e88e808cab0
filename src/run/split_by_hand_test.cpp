// A forward pass that two ranks share: the first computes up to a layer and sends its output, pack by pack,
// in the middle of the pass; the second goes on. The lists are written by hand; nothing but the Runner that
// trains runs them.
#include <algorithm>

#include <gtest/gtest.h>

#include "base/same_bits_for_test.h"
#include "cpu/cpu_device.h"
#include "device/kernels_for_test.h"
#include "inventory/inventory.h"
#include "program/compile.h"
#include "program/rank_builder.h"
#include "program/sums.h"
#include "run/runner.h"
#include "run/two_layers_for_test.h"

namespace lockstep::run {
namespace {

using program::Program;
using program::Region;
using program::Segment;

constexpr int kExamples = 75, kPacks = 5;

model::Model model_to_split() {
  return {"split",
          {1, 6, 6},
          {{"conv1", model::Conv2d{3, {3, 3}}},
           {"relu1", model::Relu{}},
           {"flatten1", model::Flatten{}},
           {"linear1", model::Linear{5}},
           {"relu2", model::Relu{}},
           {"linear2", model::Linear{4}}},
          0.3};
}

// The first rank ends behind the first forward instruction. The second begins there; it loads for the labels.
std::vector<Program> split(const Program& step) {
  const std::vector<program::Instruction> all = program::packs_of(step).instructions;
  const auto cut = std::ranges::find_if(all,
                                        [](const program::Instruction& i) {
                                          return std::holds_alternative<program::Forward>(i.operation);
                                        }) +
                   1;
  const program::BufferId handed_over = (cut - 1)->outputs[0];
  std::vector<program::RankBuilder> ranks;
  for (int rank = 0; rank < 2; ++rank) {
    program::RankBuilder& builder = ranks.emplace_back(step);
    builder.program().purpose = program::Purpose::replay;
    builder.program().packs = kPacks;
  }
  Program& first = ranks[0].program();
  program::packs_of(first).instructions.assign(all.begin(), cut);
  program::packs_of(first).packs = {0, kPacks};
  const program::EventId computed = ranks[0].when_done(program::packs_of(first).instructions.back());

  Program& second = ranks[1].program();
  program::packs_of(second).instructions = {all.front()};
  program::packs_of(second).packs = {0, kPacks};
  Segment rest{"rest", Segment::Over::packs, {cut, all.end()}, {0, kPacks}};
  const Region activation = ranks[0].whole(handed_over);
  for (int pack = 0; pack < kPacks; ++pack) {
    Region one = activation;
    one.row = pack;
    ranks[0].send(1, one, {computed});
    rest.waits.push_back(ranks[1].receive(0, one));
  }
  second.segments.push_back(std::move(rest));
  const program::EventId scored = ranks[1].when_done(second.segments.back().instructions.back());
  ranks[1].join({.inputs = {ranks[1].whole(step.sums[0].partial)}, .output = ranks[1].whole(step.loss)},
                {scored});
  first.loss = first.tally = -1;
  return {first, second};
}

struct Scored {
  float loss = 0;
  std::vector<std::int64_t> tally;
};

class SplitByHand : public testing::Test {
 protected:
  SplitByHand() {
    for (std::uint32_t e = 0; e < kExamples; ++e) {
      order_.push_back(kExamples - 1 - e);
      labels_.push_back(static_cast<std::uint8_t>(e % 4));
      for (std::size_t p = 0; p < 36; ++p) pixels_.push_back(static_cast<std::uint8_t>(e * 41 + p * p * 7));
    }
  }

  device::StepInput input() const { return {{pixels_.data(), labels_.data(), order_}}; }

  StepResult on_one_device() {
    const auto device = cpu::make_cpu_device({.threads = 1});
    Runner runner(*device, data_parallel(step_, {}), {.most_examples = kExamples});
    runner.upload(weights_);
    return runner.step(input());
  }

  Scored on(Crew& crew) {
    Runner runner(crew, {[this](int) { return split(step_); }}, {.most_examples = kExamples});
    runner.upload(weights_);
    Scored scored;
    for (int again = 0; again < 3; ++again) {
      runner.step(input());
      crew.run([&](int rank) {
        if (rank != 1) return;
        runner.executable(rank).download(step_.loss, {&scored.loss, 1});
        const std::span<const std::int64_t> tally = runner.executable(rank).counts(step_.tally);
        scored.tally.assign(tally.begin(), tally.end());
      });
    }
    return scored;
  }

  void expect_same(Crew& crew) {
    const StepResult whole = on_one_device();
    const Scored found = on(crew);
    EXPECT_THAT(found.loss, SameBits(whole.loss));
    std::vector<std::int64_t> tally = whole.seen;
    tally.insert(tally.end(), whole.right.begin(), whole.right.end());
    EXPECT_EQ(found.tally, tally);
  }

  const Program step_ = program::compile_evaluation(model_to_split());
  std::vector<std::uint8_t> pixels_, labels_;
  std::vector<std::uint32_t> order_;
  const Weights weights_ = weights_by_index(model_to_split());
};

TEST_F(SplitByHand, ComesToItsEndInTheSimulation) { EXPECT_NO_THROW(program::check_sums(split(step_))); }

TEST_F(SplitByHand, RunsOnTwoCpuRanks) {
  for (const int threads : {1, 2}) {
    Crew crew(cpu::make_cpu_devices({.names = {"cpu:0", "cpu:1"}, .threads = threads, .bind = false}),
              {.share_cores = true});
    expect_same(crew);
  }
}

TEST_F(SplitByHand, RunsOnACpuAndAnOpenClDevice) {
  inventory::Inventory inventory({.cache = device::kernels_for_test()});
  if (std::ranges::none_of(inventory.listed(), &inventory::Listed::on_cores))
    GTEST_SKIP() << "no OpenCL device";
  for (const std::vector<std::string>& names :
       {std::vector<std::string>{"cpu:0", "opencl:0"}, {"opencl:0", "cpu:0"}, {"opencl:0", "opencl:1"}}) {
    Crew crew(inventory.make(names, {.threads = 1, .bind = false}).devices, {.share_cores = true});
    expect_same(crew);
  }
}

}  // namespace
}  // namespace lockstep::run
