#include "train/divergence.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "model/example_groups.h"
#include "program/compile.h"

namespace lockstep::train {
namespace {

constexpr std::size_t kSlice = 256;

bool all_finite(std::span<const float> values) {
  return std::ranges::all_of(values, [](float v) { return std::isfinite(v); });
}

// Examples that are replayed at once: every layer's output is kept for them. They are whole groups, because
// examples of a group depend on each other.
std::size_t slice_of(const model::Model& model, std::size_t examples) {
  std::size_t slice = kSlice;
  for (const model::ExampleGroups& groups : model::example_groups_of(model)) {
    if (slice >= examples || groups.examples == 0) return examples;
    slice = std::lcm(slice, groups.examples);
  }
  return std::min(slice, examples);
}

// One layer after the other, nothing fused, no update: all that a search can look at.
program::Program replay_program(const model::Model& model) {
  program::Program program = program::compile_training(model, {.fuse = false});
  program.purpose = program::Purpose::replay;
  return program;
}

struct Place {
  std::size_t instruction;
  int example;
};

// The first instruction, and of it the lowest of `examples` examples, whose output is not finite.
std::optional<Place> first_not_finite(run::Runner& replay,
                                      const std::vector<const program::Instruction*>& instructions,
                                      int examples) {
  const std::vector<program::Buffer>& buffers = replay.program().buffers;
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    for (const program::BufferId output : instructions[i]->outputs) {
      const program::Buffer& buffer = buffers[static_cast<std::size_t>(output)];
      if (buffer.role != program::Role::activation) continue;
      std::vector<float> values(buffer.elements);
      for (int example = 0; example < examples; ++example) {
        replay.executable().download_activation(output, example, values);
        if (!all_finite(values)) return Place{i, example};
      }
    }
  }
  return std::nullopt;
}

std::vector<const program::Instruction*> instructions_over_packs(const program::Program& program) {
  std::vector<const program::Instruction*> instructions;
  for (const program::Segment& segment : program.segments) {
    if (segment.over != program::Segment::Over::packs) continue;
    for (const program::Instruction& instruction : segment.instructions) instructions.push_back(&instruction);
  }
  return instructions;
}

std::string describe(const std::vector<const program::Instruction*>& instructions, std::size_t instruction) {
  const auto is_loss = [](const program::Instruction* i) {
    return std::holds_alternative<program::Loss>(i->operation);
  };
  const auto loss = std::ranges::find_if(instructions, is_loss) - instructions.begin();
  const std::string& layer = instructions[instruction]->layer;
  const auto at = static_cast<std::ptrdiff_t>(instruction);
  if (at == loss) return "the " + layer;
  return (at < loss ? "the output of " : "the gradient behind ") + layer;
}

}  // namespace

Divergence find_divergence(device::Device& device, const model::Model& model, run::Runner& failed,
                           const device::StepInput& input) {
  const std::span<const std::uint32_t> examples = input.minibatch.examples;
  const std::size_t at_once = slice_of(model, examples.size());
  run::Runner replay(device, run::data_parallel(replay_program(model), {}),
                     {.most_examples = static_cast<int>(at_once), .order = device::Order::layer},
                     failed.crew().options());
  replay.upload(failed.download());
  const std::vector<const program::Instruction*> packs = instructions_over_packs(replay.program());

  std::optional<Place> found;
  for (std::size_t first = 0; first < examples.size(); first += at_once) {
    device::StepInput slice = input;
    slice.minibatch.examples = examples.subspan(first, std::min(at_once, examples.size() - first));
    replay.step(slice);
    std::optional<Place> place =
        first_not_finite(replay, packs, static_cast<int>(slice.minibatch.examples.size()));
    if (!place || (found && found->instruction <= place->instruction)) continue;
    found = Place{place->instruction, place->example + static_cast<int>(first)};
  }
  if (found) return {describe(packs, found->instruction), found->example};

  // Every number of every example is finite; a sum over them is not.
  const std::vector<model::Parameter> parameters = model::parameters_of(model);
  for (std::size_t p = parameters.size(); p-- > 0;) {
    if (!parameters[p].trained()) continue;
    std::vector<float> gradient(parameters[p].elements());
    // With a sharded optimizer only the owner of an element has its gradient.
    for (int owner = 0; owner < failed.crew().size(); ++owner) {
      failed.executable(owner).download(failed.program().gradients[p], gradient);
      if (!all_finite(gradient)) return {"the gradient of " + parameters[p].name, -1};
    }
  }
  return {"the mean loss", -1};
}

}  // namespace lockstep::train
