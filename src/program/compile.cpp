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
      : name_(model.name), options_(options), nodes_(nodes_of(model, options)), builder_(model, nodes_) {
    program_.classes = model::classes_of(model);
  }

  Program training() {
    if (program_.parameters.empty()) throw Error(Fault::usage, "model {} has nothing to train", name_);
    builder_.add_sums();
    forward();
    const BufferId dz = builder_.add_activation(nodes_.back().name + ".d", nodes_.back().output);
    std::vector<BufferId> outputs = scores_;
    outputs.push_back(dz);
    score(std::move(outputs));
    builder_.backward(dz);
    if (options_.momentum) add_velocities();
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

  // A whole velocity beside each parameter or, with a sharded optimizer, of the part the device owns.
  void add_velocities() {
    const exchange::Setting setting = sums_of(program_);
    const std::vector<exchange::Shard> shards =
        options_.shard_optimizer == nullptr
            ? std::vector<exchange::Shard>{}
            : options_.shard_optimizer->shards(setting.sums, options_.devices);
    program_.velocities.assign(program_.parameters.size(), -1);
    for (std::size_t i = 0; i < program_.sums.size(); ++i) {
      Sum& sum = program_.sums[i];
      if (sum.parameter < 0) continue;
      exchange::Range owned{static_cast<int>(i), 0,
                            options_.shard_optimizer == nullptr ? setting.sums[i] : 0};
      for (const exchange::Shard& shard : shards) {
        if (shard.range.sum == owned.sum && shard.owner == options_.device) owned = shard.range;
      }
      sum.velocity_first = owned.first;
      sum.velocity =
          builder_.add_buffer(builder_.buffer(sum.parameter).name + ".velocity", Role::velocity, owned.count);
      const auto at = std::ranges::find(program_.parameters, sum.parameter) - program_.parameters.begin();
      program_.velocities[static_cast<std::size_t>(at)] = sum.velocity;
    }
  }

  std::vector<Instruction> updates() const {
    std::vector<Instruction> list;
    for (std::size_t i = 0; i < program_.parameters.size(); ++i) {
      Instruction update{Update{},
                         builder_.buffer(program_.parameters[i]).name,
                         {program_.parameters[i], program_.gradients[i]},
                         {program_.parameters[i]}};
      if (options_.momentum) {
        update.inputs.push_back(program_.velocities[i]);
        update.outputs.push_back(program_.velocities[i]);
      }
      list.push_back(std::move(update));
    }
    return list;
  }

  const std::string name_;
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
