#include "measure/layer_pass.h"

#include <array>
#include <memory>
#include <utility>

#include "base/aligned_buffer.h"
#include "base/error.h"
#include "base/random.h"
#include "cpu/convolution_plans.h"
#include "cpu/lane_chain_plan.h"
#include "cpu/outer_product_plan.h"
#include "cpu/winograd_gradient_plan.h"
#include "program/compile.h"

namespace lockstep::measure {
namespace {

using arithmetic::kPack, arithmetic::WeightGradientAlgorithm;
using cpu::Direction, cpu::JoinTarget, cpu::Kernels, cpu::Laps;
using program::Convolution, program::Instruction;
using Numbers = AlignedBuffer<float>;

constexpr const char* kLayer = "layer";
constexpr int kMostPacks = 4;  // as many as a step gives a layer at once

// The layer's own instructions, of a training step. What stands before it has parameters, too: else nothing
// would want its input gradient.
program::Program program_of(const LayerShape& s, arithmetic::ConvolutionRule rule) {
  const model::Model around{
      .name = s.name,
      .input = {1, s.side, s.side},
      .layers = {{"before", model::Conv2d{.out_channels = s.in_channels, .kernel = {1, 1}}},
                 {kLayer, model::Conv2d{.out_channels = s.out_channels,
                                        .kernel = {s.kernel, s.kernel},
                                        .padding = {s.padding, s.padding}}},
                 {"flatten", model::Flatten{}},
                 {"after", model::Linear{2}}},
      .convolution = rule};
  program::Program program = program::compile_training(around);
  for (program::Segment& segment : program.segments) {
    std::erase_if(segment.instructions, [](const Instruction& i) { return i.layer != kLayer; });
  }
  return program;
}

template <class Operation>
const Instruction& instruction_of(const program::Program& program) {
  for (const program::Segment& segment : program.segments) {
    for (const Instruction& i : segment.instructions) {
      if (std::holds_alternative<Operation>(i.operation)) return i;
    }
  }
  throw Error(Fault::ours, "defect: the step leaves out a pass of the layer");
}

// From -1 to 1.
Numbers random_numbers(std::size_t count) {
  Numbers numbers(count);
  const std::uint32_t stream = stream_id("bench:layer");
  for (std::size_t i = 0; i < count; ++i) {
    numbers[i] = static_cast<float>(random_block(0, i / 4, 0, stream)[i % 4]) * 0x1p-31f - 1.0f;
  }
  return numbers;
}

std::size_t pack_floats(const program::Shape& shape) {
  return static_cast<std::size_t>(shape.elements()) * kPack;
}

struct ConvolutionNumbers {
  Numbers input, prepared, bias, output, scratch;
};

template <class Operation>
LayerPass convolution_pass(const program::Program& program, Direction direction, const Kernels& kernels) {
  const Instruction& instruction = instruction_of<Operation>(program);
  const Convolution& c = std::get<Operation>(instruction.operation).convolution;
  const program::BufferId id = instruction.inputs[1];
  const cpu::ConvolutionPlans plans =
      cpu::make_convolution_plans(program, kMostPacks, kernels, cpu::cache_sizes());
  const auto plan = plans.layers.at({id, direction});
  const auto packs = static_cast<std::size_t>(plan->most_packs());
  const bool forward = direction == Direction::forward;

  const auto n = std::make_shared<ConvolutionNumbers>();
  n->input = random_numbers(packs * pack_floats(forward ? c.input : c.output));
  n->output = Numbers(packs * pack_floats(forward ? c.output : c.input));
  n->bias = Numbers(static_cast<std::size_t>(c.output.channels));
  n->scratch = Numbers(plan->scratch_floats());
  const cpu::PreparedWeights& weights = *plans.weights.at(id);
  n->prepared = random_numbers(c.weights());
  if (!weights.canonical()) {
    const Numbers parameter = std::exchange(n->prepared, Numbers(weights.prepared_floats()));
    weights.prepare(parameter.data(), n->prepared.data(), 0, 1);
  }
  return {c, plan->most_packs(), [plan, n, forward](Laps* laps) {
            plan->run({.input = n->input.data(),
                       .weights = n->prepared.data(),
                       .bias = forward ? n->bias.data() : nullptr,
                       .output = n->output.data(),
                       .mask = nullptr,
                       .packs = plan->most_packs(),
                       .laps = laps},
                      n->scratch.data());
          }};
}

struct GradientNumbers {
  explicit GradientNumbers(const Convolution& c)
      : x(random_numbers(pack_floats(c.input))),
        dy(random_numbers(pack_floats(c.output))),
        weight_sums(c.weights()),
        bias_sums(static_cast<std::size_t>(c.output.channels)) {}

  // In a step the sum of a pack meets one other: there is one join fewer than packs.
  static JoinTarget joined(Numbers& sums) {
    JoinTarget target;
    target.joins = 1;
    target.sums[0] = target.destination = sums.data();
    return target;
  }
  JoinTarget weights() { return joined(weight_sums); }
  JoinTarget bias() { return joined(bias_sums); }

  Numbers x, dy, weight_sums, bias_sums, scratch;
};

LayerPass weight_gradient_pass(const program::Program& program, const Kernels& kernels) {
  const Instruction& instruction = instruction_of<program::WeightGradient>(program);
  const Convolution& c = std::get<program::WeightGradient>(instruction.operation).convolution;
  const auto n = std::make_shared<GradientNumbers>(c);
  switch (c.algorithms.weight_gradient) {
    case WeightGradientAlgorithm::per_lane: {
      const cpu::LaneChainPlan plan(c, kernels);
      n->scratch = Numbers(plan.scratch_floats());
      return {c, 1, [plan, n](Laps*) {
                plan.run(n->x.data(), n->dy.data(), n->weights(), n->bias(), n->scratch.data());
              }};
    }
    case WeightGradientAlgorithm::per_row: {
      const cpu::OuterProductPlan plan(c, kernels);
      n->scratch = Numbers(plan.scratch_floats(1));
      return {c, 1, [plan, n](Laps*) {
                const std::array pack{
                    cpu::OuterProductPlan::PackOperands{n->x.data(), n->dy.data(), n->weights(), n->bias()}};
                plan.run(pack, n->scratch.data());
              }};
    }
    case WeightGradientAlgorithm::winograd: {
      const cpu::WinogradGradientPlan plan(c, kernels, cpu::cache_sizes());
      n->scratch = Numbers(plan.scratch_floats());
      return {c, 1, [plan, n](Laps* laps) {
                plan.run(n->x.data(), n->dy.data(), n->weights(), n->bias(), n->scratch.data(), laps);
              }};
    }
  }
  return {};
}

}  // namespace

LayerPass make_layer_pass(const LayerShape& shape, arithmetic::ConvolutionRule rule, Pass pass,
                          const Kernels& kernels) {
  const program::Program program = program_of(shape, rule);
  switch (pass) {
    case Pass::forward:
      return convolution_pass<program::Forward>(program, Direction::forward, kernels);
    case Pass::input_gradient:
      return convolution_pass<program::InputGradient>(program, Direction::input_gradient, kernels);
    case Pass::weight_gradient:
      return weight_gradient_pass(program, kernels);
  }
  return {};
}

}  // namespace lockstep::measure
