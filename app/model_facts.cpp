#include "model_facts.h"

#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "measure/instruction_work.h"
#include "model/text.h"
#include "model/zoo.h"
#include "program/compile.h"

namespace lockstep::app {
namespace {

// By layer. Without fusion every instruction is of one layer.
std::map<std::string, double> forward_flops_by_layer(const model::Model& model) {
  std::map<std::string, double> flops;
  const program::Program program = program::compile_evaluation(model, {.fuse = false});
  for (const program::Segment& segment : program.segments) {
    for (const program::Instruction& instruction : segment.instructions)
      flops[instruction.layer] += measure::flops_per_example(instruction);
  }
  return flops;
}

}  // namespace

ModelFacts facts_of(const model::Model& model) {
  const std::vector<model::Shape> shapes = model::infer_shapes(model);
  ModelFacts facts{.name = model.name,
                   .input = model.input,
                   .classes = model::classes_of(model),
                   .least_side = model::least_side(model.name),
                   .forward_flops = measure::flops_per_example(program::compile_evaluation(model)),
                   .step_flops = measure::flops_per_example(program::compile_training(model))};
  std::map<std::string, double> flops = forward_flops_by_layer(model);
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const model::Layer& layer = model.layers[i];
    facts.layers.push_back({.name = layer.name,
                            .inputs = fmt::format("{}", fmt::join(layer.inputs, ", ")),
                            .kind = model::text_of(layer.kind),
                            .shape = shapes[i + 1],
                            .flops = flops[layer.name]});
  }
  for (const model::Parameter& parameter : model::parameters_of(model)) {
    const auto elements = static_cast<std::int64_t>(parameter.elements());
    (parameter.trained() ? facts.trained : facts.statistics) += elements;
    if (parameter.trained()) facts.layers[static_cast<std::size_t>(parameter.layer)].trained += elements;
  }
  return facts;
}

}  // namespace lockstep::app
