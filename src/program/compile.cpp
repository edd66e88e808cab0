#include "program/compile.h"

#include <algorithm>

#include "base/error.h"
#include "program/builder.h"

namespace lockstep::program {
namespace {

std::vector<Node> nodes_of(const model::Model& model, const CompileOptions& options) {
  std::vector<Node> nodes = lower(model);
  if (options.trim) nodes = trim(std::move(nodes));
  if (options.fuse) nodes = fuse(std::move(nodes));
  return nodes;
}

class Compiler {
 public:
  Compiler(const model::Model& model, const CompileOptions& options)
      : model_(model),
        options_(options),
        nodes_(nodes_of(model, options)),
        builder_(model, nodes_, options_) {
    program_.classes = model::classes_of(model);
  }

  Program training() {
    if (program_.parameters.empty()) throw Error(Fault::usage, "model {} has nothing to train", model_.name);
    builder_.add_sums();
    forward();
    const BufferId dz = builder_.add_activation(nodes_.back().name + ".d", nodes_.back().output);
    std::vector<BufferId> outputs = scores_;
    outputs.push_back(dz);
    score(std::move(outputs));
    builder_.backward(dz);
    program_.rule = options_.rule;
    const std::vector<model::Parameter> parameters = model::parameters_of(model_);
    for (Sum& sum : program_.sums) {
      const auto place = std::ranges::find(program_.parameters, sum.parameter) - program_.parameters.begin();
      if (sum.parameter >= 0) sum.decays = parameters[static_cast<std::size_t>(place)].decays();
    }
    for (const model::StateTensor& tensor : model::state_tensors(model_, options_.rule)) {
      const bool is_parameter = tensor.kind == model::StateTensor::Kind::parameter;
      program_.state.push_back({tensor, is_parameter ? program_.parameters[tensor.parameter] : -1, 0});
    }
    return builder_.finish();
  }

  Program evaluation() {
    program_.purpose = Purpose::evaluation;
    forward();
    score(scores_);
    return builder_.finish();
  }

 private:
  void forward() {
    builder_.forward();
    const BufferId losses = builder_.add_activation("losses", {1, 1, 1});
    const BufferId partial = builder_.add_buffer("loss.partial", Role::partial, 1);
    program_.loss = builder_.add_buffer("loss", Role::gradient, 1);
    program_.tally =
        builder_.add_buffer("tally", Role::counts, 2 * static_cast<std::size_t>(program_.classes));
    program_.sums.push_back({partial, program_.loss});
    scores_ = {losses, partial, program_.tally};
  }

  void score(std::vector<BufferId> outputs) {
    builder_.emit(
        {Loss{program_.classes}, "loss", {builder_.last_output(), builder_.labels()}, std::move(outputs)});
  }

  const model::Model& model_;
  const CompileOptions options_;
  const std::vector<Node> nodes_;
  Builder builder_;
  Program& program_ = builder_.program();
  std::vector<BufferId> scores_;  // what an evaluation takes from the loss
};

}  // namespace

Program compile_training(const model::Model& model, const CompileOptions& options) {
  return Compiler(model, options).training();
}

Program compile_evaluation(const model::Model& model, const CompileOptions& options) {
  return Compiler(model, options).evaluation();
}

}  // namespace lockstep::program
