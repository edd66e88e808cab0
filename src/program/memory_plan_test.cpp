#include "program/memory_plan.h"

#include <algorithm>
#include <utility>

#include <gtest/gtest.h>

#include "model/zoo.h"
#include "program/checked_for_test.h"
#include "program/compile.h"
#include "program/crossing.h"
#include "program/life.h"

namespace lockstep::program {
namespace {

using model::Add, model::AvgPool, model::BatchNorm, model::Conv2d, model::Flatten, model::Linear,
    model::MaxPool, model::Relu;

model::Model residual(arithmetic::ConvolutionRule rule, int blocks) {
  model::Model model{.name = "residual", .input = {1, 12, 12}, .layers = {}, .convolution = rule};
  const Conv2d conv{.out_channels = 4, .kernel = {3, 3}, .padding = {1, 1}};
  model.layers.push_back({"conv0", conv});
  model.layers.push_back({"relu0", Relu{}});
  std::string before = "relu0";
  for (int b = 1; b <= blocks; ++b) {
    const auto name = [&](const char* what) { return what + std::to_string(b); };
    model.layers.push_back({name("conva"), conv, {before}});
    model.layers.push_back({name("relua"), Relu{}});
    model.layers.push_back({name("convb"), conv});
    model.layers.push_back({name("add"), Add{}, {name("convb"), before}});
    model.layers.push_back({name("relub"), Relu{}});
    before = name("relub");
  }
  model.layers.push_back({"pool", MaxPool{{2, 2}, {2, 2}}});
  model.layers.push_back({"flatten", Flatten{}});
  model.layers.push_back({"linear", Linear{10}});
  return model;
}

// With a batch norm behind every convolution.
model::Model normed(model::Model model) {
  std::vector<model::Layer> layers;
  for (model::Layer& layer : model.layers) {
    const bool convolution = std::holds_alternative<Conv2d>(layer.kind);
    const std::string name = layer.name;
    for (std::string& input : layer.inputs)
      if (input.starts_with("conv")) input = "norm" + input;
    layers.push_back(std::move(layer));
    if (convolution) layers.push_back({"norm" + name, BatchNorm{}});
  }
  model.layers = std::move(layers);
  return model;
}

std::vector<Program> programs() {
  std::vector<Program> all;
  for (const auto rule : {arithmetic::ConvolutionRule::direct, arithmetic::ConvolutionRule::fast}) {
    model::Model lenet = model::zoo_model("lenet");
    lenet.convolution = rule;
    for (const model::Model& model :
         {lenet, model::zoo_model("mlp"), residual(rule, 3), normed(residual(rule, 2))}) {
      for (const bool fuse : {true, false}) {
        all.push_back(checked_data_parallel(compile_training(model, {.fuse = fuse}), {}, 16)[0]);
        all.push_back(checked_data_parallel(compile_training(model, {.fuse = fuse}), {.ranks = 2}, 32)[1]);
        all.push_back(checked_data_parallel(compile_evaluation(model, {.fuse = fuse}), {}, 16)[0]);
      }
    }
  }
  return all;
}

// Segments over packs run in groups; [first, last) of their instructions, as far as there are so many, are
// grouped.
Nest nest_of(const Program& program, int group, InstructionRange grouped) {
  Nest nest{.most_packs = 16, .threads = 2, .group = group, .line = 64};
  nest.grouped.assign(program.segments.size(), {});
  for (std::size_t s = 0; s < program.segments.size(); ++s)
    if (const std::size_t all = program.segments[s].instructions.size();
        program.segments[s].over == Segment::Over::packs)
      nest.grouped[s] = {std::min(grouped.first, all), std::min(grouped.last, all)};
  return nest;
}

// Follows a step of one thread line by line: a line of a workspace belongs to the pack and buffer that wrote
// it last, and a reader must find its own. It knows nothing about lives.
class Follower {
 public:
  Follower(const Program& program, const Nest& nest)
      : program_(program), nest_(nest), plan_(plan_memory(program, nest)) {}

  // How many reads found the numbers of another pack or buffer, and writes went over what was still read.
  int mistakes(int packs) {
    for (std::size_t s = 0; s < program_.segments.size(); ++s) {
      const Segment& segment = program_.segments[s];
      if (segment.over != Segment::Over::packs) continue;
      const InstructionRange grouped = nest_.grouped[s];
      for (int first = 0; first < packs; first += nest_.group) {
        const int last = std::min(first + nest_.group, packs);
        for (int pack = first; pack < last; ++pack) run(segment, {0, grouped.first}, pack);
        for (std::size_t i = grouped.first; i < grouped.last; ++i)
          for (int pack = first; pack < last; ++pack) run(segment, {i, i + 1}, pack);
        for (int pack = first; pack < last; ++pack)
          run(segment, {grouped.last, segment.instructions.size()}, pack);
      }
    }
    return mistakes_;
  }

 private:
  using Lines = std::pair<std::size_t, std::size_t>;  // [first, last)

  bool in_workspace(BufferId id) const { return plan_.buffers[static_cast<std::size_t>(id)].place >= 0; }
  Lines lines_of(BufferId id, int pack) const {
    const MemoryPlan::Numbers& n = plan_.buffers[static_cast<std::size_t>(id)];
    const MemoryPlan::Place& place = plan_.places[static_cast<std::size_t>(n.place)];
    const std::size_t first = place.first + static_cast<std::size_t>(pack % n.copies) * n.bytes;
    EXPECT_LE(first + n.bytes, place.first + place.bytes);
    EXPECT_EQ(first % nest_.line, 0u);
    return {first / nest_.line, (first + n.bytes) / nest_.line};
  }

  void run(const Segment& segment, InstructionRange range, int pack) {
    for (std::size_t i = range.first; i < range.last; ++i) {
      const Instruction& instruction = segment.instructions[i];
      for (std::size_t input = 0; input < instruction.inputs.size(); ++input) {
        const BufferId id = instruction.inputs[input];
        if (!in_workspace(id)) continue;
        const auto [first, last] = lines_of(id, pack);
        for (std::size_t line = first; line < last; ++line) mistakes_ += lines_[line] != std::pair{id, pack};
        for (const BufferId output : instruction.outputs) {
          if (!in_workspace(output) || output == id) continue;
          const auto [begin, end] = lines_of(output, pack);
          const bool same = begin == first && end == last;
          if (begin < last && first < end && !(same && may_overwrite(instruction, input))) ++mistakes_;
        }
      }
      for (const BufferId id : instruction.outputs) {
        if (!in_workspace(id)) continue;
        const auto [first, last] = lines_of(id, pack);
        for (std::size_t line = first; line < last; ++line) lines_[line] = {id, pack};
      }
      // Outputs do not lie over one another.
      for (const BufferId id : instruction.outputs) {
        if (!in_workspace(id)) continue;
        const auto [first, last] = lines_of(id, pack);
        for (std::size_t line = first; line < last; ++line) mistakes_ += lines_[line] != std::pair{id, pack};
      }
    }
  }

  const Program& program_;
  const Nest& nest_;
  const MemoryPlan plan_;
  std::vector<std::pair<BufferId, int>> lines_ =
      std::vector(plan_.places_bytes / nest_.line, std::pair{-1, -1});
  int mistakes_ = 0;
};

TEST(MemoryPlan, EveryReaderFindsTheNumbersOfItsPack) {
  for (const Program& program : programs()) {
    std::size_t all = 0;
    for (const Segment& segment : program.segments)
      if (segment.over == Segment::Over::packs) all = std::max(all, segment.instructions.size());
    for (const int group : {1, 3}) {
      for (const InstructionRange grouped :
           {InstructionRange{all, all}, {0, all}, {all / 3, 2 * all / 3}, {1, all / 2}, {all / 2, all - 1}}) {
        SCOPED_TRACE(testing::Message() << all << " instructions, groups of " << group << " in "
                                        << grouped.first << " to " << grouped.last);
        const Nest nest = nest_of(program, group, grouped);
        EXPECT_EQ(Follower(program, nest).mistakes(7), 0);
      }
    }
  }
}

TEST(MemoryPlan, ADeeperNetworkNeedsOnlyWhatTheWayBackReads) {
  const auto places_of = [](int blocks) {
    const Program program = compile_training(residual(arithmetic::ConvolutionRule::direct, blocks));
    return plan_memory(program, nest_of(program, 1, {})).places_bytes;
  };
  // A block keeps two activations for the way back: the outputs of its relus. Gradients and the sums before
  // relus come and go in places that are shared.
  const std::size_t activation = std::size_t{4} * 12 * 12 * 16 * sizeof(float);
  EXPECT_EQ(places_of(6) - places_of(5), 2 * activation);
}

TEST(MemoryPlan, NothingSharesAPlaceWhereActivationsAreKept) {
  const Program program = programs().front();
  Nest nest = nest_of(program, 4, {0, packs_of(program).instructions.size()});
  nest.keeps_activations = true;
  for (const MemoryPlan::Place& place : plan_memory(program, nest).places)
    EXPECT_EQ(place.buffers.size(), 1u);
}

TEST(MemoryPlan, WhatIsReadFirstIsNotOverwritten) {
  Program program;
  for (const char* name : {"a", "b", "sum"}) program.buffers.push_back({name, Role::activation, 3});
  program.segments = {{"packs", Segment::Over::packs, {{program::Add{}, "add", {0, 1}, {2}}}}};
  EXPECT_EQ(plan_memory(program, nest_of(program, 1, {})).places.size(), 3u);
}

TEST(MemoryPlan, ClassesAddUpToThePeak) {
  const Program program = checked_data_parallel(
      compile_training(model::zoo_model("mlp"), {.rule = arithmetic::UpdateKind::momentum}), {.ranks = 2},
      16)[0];
  Nest nest = nest_of(program, 2, {0, packs_of(program).instructions.size()});
  nest.stack = 3;
  nest.scratch = 640;
  const MemoryPlan plan = plan_memory(program, nest);
  std::size_t parameters = 0;
  for (const BufferId id : program.parameters)
    parameters += (program.buffers[static_cast<std::size_t>(id)].elements * 4 + 63) / 64 * 64;
  EXPECT_EQ(plan[MemoryClass::parameters], parameters);
  EXPECT_EQ(plan[MemoryClass::states], parameters);
  EXPECT_EQ(plan[MemoryClass::gradients], parameters + 64);           // and the loss
  EXPECT_EQ(plan[MemoryClass::partial_sums], 6 * (parameters + 64));  // two threads, three levels
  EXPECT_EQ(plan[MemoryClass::scratch], 2 * 640u);
  EXPECT_EQ(plan.workspace_bytes, plan.places_bytes + 640);
  std::size_t sum = 0;
  for (const std::size_t bytes : plan.by_class) sum += bytes;
  EXPECT_EQ(plan.peak(), sum);
  EXPECT_EQ(plan[MemoryClass::activations] + plan[MemoryClass::masks] + plan[MemoryClass::labels],
            2 * plan.places_bytes);
}

TEST(MemoryPlan, SumsOfPacksAreGoneAfterTheirInstruction) {
  const Program program = compile_training(residual(arithmetic::ConvolutionRule::direct, 5));
  Nest nest = nest_of(program, 4, {0, packs_of(program).instructions.size()});
  nest.pack_sums = true;
  const MemoryPlan plan = plan_memory(program, nest);
  const auto place_of = [&](const char* name) {
    const auto found = std::ranges::find(program.buffers, name, &Buffer::name) - program.buffers.begin();
    return plan.pack_sums[static_cast<std::size_t>(found)].place;
  };
  EXPECT_GE(place_of("convb3.weight.partial"), 0);
  EXPECT_NE(place_of("convb3.weight.partial"), place_of("convb3.bias.partial"));
  std::size_t largest = 0, own = 0;  // own: bytes of places that only such sums need
  for (const MemoryPlan::Numbers& sums : plan.pack_sums) largest = std::max(largest, sums.all_bytes());
  for (const MemoryPlan::Place& place : plan.places)
    if (program.buffers[static_cast<std::size_t>(place.buffers.front())].role == Role::partial)
      own += place.bytes;
  EXPECT_GT(largest, 0u);
  EXPECT_LT(own, 2 * largest);  // a layer has a large sum for its weights and a small one for its bias
}

}  // namespace
}  // namespace lockstep::program
