#include "train/divergence.h"

#include <algorithm>
#include <cmath>

#include "program/compile.h"

namespace lockstep::train {
namespace {

bool all_finite(std::span<const float> values) {
  return std::ranges::all_of(values, [](float v) { return std::isfinite(v); });
}

class Search {
 public:
  Search(run::Runner& runner, int examples) : runner_(runner), examples_(examples) {}

  // The lowest example for which an activation is not finite, or -1.
  int lowest_example(program::BufferId buffer) const {
    std::vector<float> values(runner_.program().buffers[static_cast<std::size_t>(buffer)].elements);
    for (int example = 0; example < examples_; ++example) {
      runner_.executable().download_activation(buffer, example, values);
      if (!all_finite(values)) return example;
    }
    return -1;
  }

  bool finite(program::BufferId gradient) const {
    std::vector<float> values(runner_.program().buffers[static_cast<std::size_t>(gradient)].elements);
    runner_.executable().download(gradient, values);
    return all_finite(values);
  }

 private:
  run::Runner& runner_;
  const int examples_;
};

}  // namespace

Divergence find_divergence(device::Device& device, const model::Model& model, const Weights& weights,
                           const device::StepInput& input) {
  const auto examples = static_cast<int>(input.minibatch.examples.size());
  program::Program program = program::compile_training(model, {.fuse = false});
  std::erase_if(program.segments, [](const program::Segment& s) { return s.name == "update"; });
  run::Runner runner(device, program, {.most_examples = examples, .order = device::Order::layer});
  runner.upload(weights);
  runner.step(input);
  const Search search(runner, examples);

  bool backward = false;
  for (const program::Segment& segment : runner.program().segments) {
    if (segment.over != program::Segment::Over::packs) continue;
    for (const program::Instruction& i : segment.instructions) {
      for (const program::BufferId output : i.outputs) {
        if (runner.program().buffers[static_cast<std::size_t>(output)].role != program::Role::activation)
          continue;
        if (const int example = search.lowest_example(output); example >= 0) {
          const char* const what = std::holds_alternative<program::Loss>(i.operation) ? "the "
                                   : backward                                         ? "the gradient behind "
                                                                                      : "the output of ";
          return {what + i.layer, example};
        }
      }
      backward = backward || std::holds_alternative<program::Loss>(i.operation);
    }
  }
  const std::vector<model::Parameter> parameters = model::parameters_of(model);
  for (std::size_t p = parameters.size(); p-- > 0;) {
    if (!search.finite(runner.program().gradients[p])) return {"the gradient of " + parameters[p].name, -1};
  }
  return {"the mean loss", -1};
}

}  // namespace lockstep::train
