#include "program/compile.h"

#include <algorithm>

#include <fmt/format.h>

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
      : model_(model), options_(options), nodes_(nodes_of(model, options)), builder_(model, nodes_) {
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
    add_states();
    for (const model::StateTensor& tensor : model::state_tensors(model_, options_.rule))
      program_.state.push_back(part_of(tensor));
    segment("exchange", Segment::Over::exchange, {});
    if (options_.shard_optimizer == nullptr) {
      std::vector<BufferId> checked{program_.loss};
      checked.insert(checked.end(), program_.gradients.begin(), program_.gradients.end());
      segment("check", Segment::Over::elements, {{Check{}, "", checked, {}}});
      segment("update", Segment::Over::elements, updates());
    }
    return builder_.finish();
  }

  Program evaluation() {
    forward();
    score(scores_);
    segment("exchange", Segment::Over::exchange, {});
    return builder_.finish();
  }

 private:
  void segment(std::string name, Segment::Over over, std::vector<Instruction> instructions) {
    program_.segments.push_back({std::move(name), over, std::move(instructions)});
  }

  void forward() {
    builder_.forward();
    const BufferId losses = builder_.add_activation("losses", {1, 1, 1});
    const BufferId partial = builder_.add_buffer("loss.partial", Role::partial, 1);
    program_.loss = builder_.add_buffer("loss", Role::gradient, 1);
    program_.tally =
        builder_.add_buffer("tally", Role::tally, 2 * static_cast<std::size_t>(program_.classes));
    program_.sums.push_back({partial, program_.loss});
    scores_ = {losses, partial, program_.tally};
  }

  void score(std::vector<BufferId> outputs) {
    builder_.emit(
        {Loss{program_.classes}, "loss", {builder_.last_output(), builder_.labels()}, std::move(outputs)});
  }

  // The states of each parameter: whole ones or, with a sharded optimizer, of the part that the device owns.
  void add_states() {
    program_.rule = options_.rule;
    const exchange::Setting setting = sums_of(program_);
    const std::vector<exchange::Shard> shards =
        options_.shard_optimizer == nullptr
            ? std::vector<exchange::Shard>{}
            : options_.shard_optimizer->shards(setting.sums, options_.devices);
    for (std::size_t i = 0; i < program_.sums.size(); ++i) {
      Sum& sum = program_.sums[i];
      if (sum.parameter < 0) continue;
      exchange::Range owned{static_cast<int>(i), 0,
                            options_.shard_optimizer == nullptr ? setting.sums[i] : 0};
      for (const exchange::Shard& shard : shards) {
        if (shard.range.sum == owned.sum && shard.owner == options_.device) owned = shard.range;
      }
      sum.states_first = owned.first;
      for (const std::string_view state : arithmetic::update_rule(options_.rule).states)
        sum.states.push_back(builder_.add_buffer(
            fmt::format("{}.{}", builder_.buffer(sum.parameter).name, state), Role::state, owned.count));
    }
  }

  const Sum& sum_of(std::size_t parameter) const {
    return *std::ranges::find(program_.sums, program_.parameters[parameter], &Sum::parameter);
  }

  // Where the device has a tensor of the state.
  StatePart part_of(const model::StateTensor& tensor) const {
    switch (tensor.kind) {
      case model::StateTensor::Kind::parameter:
        return {tensor, program_.parameters[tensor.parameter], 0};
      case model::StateTensor::Kind::optimizer_state:
        break;
    }
    const Sum& sum = sum_of(tensor.parameter);
    const std::span<const std::string_view> states = arithmetic::update_rule(options_.rule).states;
    const auto state = std::ranges::find(states, tensor.state) - states.begin();
    return {tensor, sum.states[static_cast<std::size_t>(state)], sum.states_first};
  }

  std::vector<Instruction> updates() const {
    std::vector<Instruction> list;
    for (std::size_t i = 0; i < program_.parameters.size(); ++i) {
      Instruction update{Update{options_.rule},
                         builder_.buffer(program_.parameters[i]).name,
                         {program_.parameters[i], program_.gradients[i]},
                         {program_.parameters[i]}};
      for (const BufferId state : sum_of(i).states) {
        update.inputs.push_back(state);
        update.outputs.push_back(state);
      }
      list.push_back(std::move(update));
    }
    return list;
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

exchange::Setting sums_of(const Program& program) {
  exchange::Setting setting;
  for (const Sum& sum : program.sums) {
    setting.sums.push_back(program.buffers[static_cast<std::size_t>(sum.partial)].elements);
    setting.trained.push_back(sum.parameter >= 0);
  }
  return setting;
}

}  // namespace lockstep::program
