// The runner executes the list and nothing else.
#include "run/runner.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/same_bits_for_test.h"
#include "cpu/cpu_device.h"
#include "program/checked_for_test.h"
#include "program/compile.h"
#include "run/two_layers_for_test.h"

namespace lockstep::run {
namespace {

using program::Instruction;
using program::Program;
using program::Role;
using program::Segment;

model::Model small_model() {
  return {"small",
          {1, 8, 8},
          {{"conv1", model::Conv2d{3, {3, 3}}},
           {"relu1", model::Relu{}},
           {"pool1", model::AvgPool{{2, 2}, {2, 2}}},
           {"flatten1", model::Flatten{}},
           {"linear1", model::Linear{6}},
           {"relu2", model::Relu{}},
           {"linear2", model::Linear{4}}}};
}

constexpr int kExamples = 40;

// Pictures, labels and weights that depend on their index alone.
struct TrainingSet {
  std::vector<std::uint8_t> pixels = std::vector<std::uint8_t>(kExamples * 64),
                            labels = std::vector<std::uint8_t>(kExamples);
  std::vector<std::uint32_t> order = std::vector<std::uint32_t>(kExamples);
  Weights weights = weights_by_index(small_model());

  TrainingSet() {
    for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::uint8_t>(i * 37 % 251);
    for (std::size_t i = 0; i < order.size(); ++i) {
      order[i] = static_cast<std::uint32_t>(i);
      labels[i] = static_cast<std::uint8_t>(i % 4);
    }
  }

  // `program`: what one rank runs.
  Weights after_steps(const Program& program, int steps = 2) const {
    const auto device = cpu::make_cpu_device({.threads = 2});
    Runner runner(*device, {[&](int) { return std::vector{program}; }}, {.most_examples = kExamples});
    runner.upload(weights);
    for (int i = 0; i < steps; ++i) runner.step({{pixels.data(), labels.data(), order}, {0.1f}});
    return runner.download();
  }
};

Program training_program() {
  return program::checked_data_parallel(program::compile_training(small_model()), {},
                                        arithmetic::pack_count(kExamples))[0];
}

TEST(Runner, EveryInstructionCounts) {
  const TrainingSet set;
  const Program whole = training_program();
  const Weights expected = set.after_steps(whole);
  for (std::size_t s = 0; s < whole.segments.size(); ++s) {
    if (whole.segments[s].over == Segment::Over::host) continue;  // a look changes nothing
    for (std::size_t i = 0; i < whole.segments[s].instructions.size(); ++i) {
      const Instruction& removed = whole.segments[s].instructions[i];
      // A neighbour signals the events of what is removed.
      Program shorter = whole;
      std::vector<Instruction>& list = shorter.segments[s].instructions;
      if (list.size() > 1) {
        std::vector<program::EventId>& signals = list[i > 0 ? i - 1 : 1].signals;
        signals.insert(signals.end(), removed.signals.begin(), removed.signals.end());
      }
      list.erase(list.begin() + static_cast<std::ptrdiff_t>(i));
      const Weights found = set.after_steps(shorter);
      EXPECT_FALSE(bit_difference(expected, found).empty())
          << "without " << operation_name(removed.operation) << " of " << removed.layer;
    }
  }
}

TEST(Runner, OrderOfTheListIsTheOrderOfTheWork) {
  const TrainingSet set;
  Program swapped = training_program();
  std::vector<Instruction>& list = swapped.segments[1].instructions;
  const auto forward =
      std::find_if(list.begin(), list.end(), [](const Instruction& i) { return i.layer == "linear1+relu2"; });
  ASSERT_NE(forward, list.end());
  std::iter_swap(forward, forward + 1);
  EXPECT_NE(set.after_steps(swapped), set.after_steps(training_program()));
}

// A program written by hand: one linear layer of two units over pictures of one pixel, no loss, no training.
// Forward, then the bias gradient of y itself: the update adds up what forward gave.
TEST(Runner, RunsAHandWrittenList) {
  enum { x, labels, w, b, prepared, y, dw_sum, db_sum, db, dw, verdict };
  Program p;
  p.purpose = program::Purpose::replay;
  p.packs = 1;
  p.input = {1, 1, 1};
  p.buffers = {{"x", Role::activation, 1},   {"labels", Role::labels, 1},     {"w", Role::parameter, 2},
               {"b", Role::parameter, 2},    {"prepared", Role::prepared, 2}, {"y", Role::activation, 2},
               {"dw.sum", Role::partial, 2}, {"db.sum", Role::partial, 2},    {"db", Role::gradient, 2},
               {"dw", Role::gradient, 2},    {"verdict", Role::counts, 1}};
  const program::Convolution linear{.input = {1, 1, 1}, .output = {2, 1, 1}};
  p.parameters = {w, b};
  p.gradients = {db};
  p.sums = {{dw_sum, dw, w}, {db_sum, db, b}};
  p.events = 2;
  p.segments = {
      {"prepare", Segment::Over::elements, {{program::Prepare{linear}, "w", {w}, {prepared}}}},
      {"packs",
       Segment::Over::packs,
       {{program::Load{{1, 1, 1}}, "x", {}, {x, labels}},
        {program::Forward{linear}, "linear", {x, prepared, b}, {y}},
        {program::WeightGradient{linear}, "linear", {x, y}, {dw_sum, db_sum}, {0}}},
       {0, 1}},
      {"check", Segment::Over::elements, {{program::Check{{{0, 2}}}, "", {db}, {verdict}}}, {}, {1}},
      {"update", Segment::Over::elements, {{program::Update{{}, {0, 2}}, "b", {verdict, b, db}, {b}}}}};
  p.exchange = {{program::Join{.inputs = {{db_sum, 0, 2}}, .output = {db, 0, 2}}, {0}, {1}}};
  const std::vector<std::uint8_t> pixels{255, 0, 255, 255}, classes{0, 0, 0, 0};
  const std::vector<std::uint32_t> order{0, 1, 2, 3};
  const auto device = cpu::make_cpu_device({.threads = 1});
  Runner runner(*device, {[&](int) { return std::vector{p}; }}, {.most_examples = 4});
  runner.upload({{0.5f, -1.0f}, {0.25f, 0.5f}});
  runner.step({{pixels.data(), classes.data(), order}, {1.0f}});
  // Absent lanes are not the loss's business here: their picture is black, so y is the bias there too, 12
  // times. Mean of y0 over 4: (3 * 0.75 + 0.25 + 12 * 0.25) / 4, and of y1: (3 * -0.5 + 0.5 + 12 * 0.5) / 4.
  EXPECT_THAT(runner.download(), SameBits(Weights{{0.5f, -1.0f}, {0.25f - 1.375f, 0.5f - 1.25f}}));
}

TEST(Runner, ACheckStopsTheStepBeforeTheUpdate) {
  const TrainingSet set;
  const auto device = cpu::make_cpu_device({.threads = 2});
  Runner runner(*device, {[](int) { return std::vector{training_program()}; }}, {.most_examples = kExamples});
  Weights weights = set.weights;
  weights.back()[0] = std::numeric_limits<float>::infinity();
  runner.upload(weights);
  EXPECT_FALSE(runner.step({{set.pixels.data(), set.labels.data(), set.order}, {0.1f}}).finite);
  EXPECT_THAT(runner.download(), SameBits(weights));
}

}  // namespace
}  // namespace lockstep::run
