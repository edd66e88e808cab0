// A segment waits for one message while the list waits for another one, and the first depends on what stands
// further down the list.
#include <gtest/gtest.h>

#include "cpu/cpu_device.h"
#include "program/compile.h"
#include "program/rank_builder.h"
#include "program/sums.h"
#include "run/runner.h"

namespace lockstep::run {
namespace {

constexpr int kExamples = 32, kPacks = 2;

model::Model linear_model() {
  return {"linear", {1, 2, 2}, {{"flatten1", model::Flatten{}}, {"linear1", model::Linear{2}}}};
}

// Rank 2 tells rank 0, rank 0 passes it on to rank 1, and rank 1 answers rank 0, whose last segment waits for
// the answer. The list of rank 0 takes the answer first.
std::vector<program::Program> relay() {
  std::vector<program::RankBuilder> ranks;
  program::BufferId told = -1, passed_on = -1, answer = -1;
  for (int rank = 0; rank < 3; ++rank) {
    program::RankBuilder& builder = ranks.emplace_back(program::compile_evaluation(linear_model()));
    builder.program().purpose = program::Purpose::replay;
    builder.program().packs = kPacks;
    program::packs_of(builder.program()).packs = {0, kPacks};
    told = builder.add_buffer("told", program::Role::counts, 1);
    passed_on = builder.add_buffer("passed on", program::Role::counts, 1);
    answer = builder.add_buffer("answer", program::Role::counts, 1);
    builder.program().loss = builder.program().tally = -1;
  }
  ranks[2].send(0, ranks[2].whole(told), ranks[2].when_packs_are_done());
  const program::EventId answered = ranks[0].receive(1, ranks[0].whole(answer));
  const program::EventId heard = ranks[0].receive(2, ranks[0].whole(told));
  ranks[0].send(1, ranks[0].whole(passed_on), {heard});
  ranks[1].send(0, ranks[1].whole(answer), {ranks[1].receive(0, ranks[1].whole(passed_on))});
  ranks[0].program().segments.push_back(
      {"after the answer", program::Segment::Over::host, {}, {}, {answered}});
  return {ranks[0].program(), ranks[1].program(), ranks[2].program()};
}

TEST(AnyMessage, TakesTheListFurther) {
  EXPECT_NO_THROW(program::check_sums(relay()));
  Crew crew(cpu::make_cpu_devices({.names = {"cpu:0", "cpu:1", "cpu:2"}, .threads = 1, .bind = false}),
            {.timeout = std::chrono::seconds(20), .share_cores = true});
  Runner runner(crew, {[](int) { return relay(); }}, {.most_examples = kExamples});
  const std::vector<std::uint8_t> pixels(kExamples * 4, 7), labels(kExamples, 1);
  std::vector<std::uint32_t> order(kExamples);
  for (std::uint32_t e = 0; e < kExamples; ++e) order[e] = e;
  for (int step = 0; step < 20; ++step) runner.step({{pixels.data(), labels.data(), order}});
}

}  // namespace
}  // namespace lockstep::run
