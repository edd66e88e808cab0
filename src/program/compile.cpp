#include "program/compile.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "program/node.h"

namespace lockstep::program {
namespace {

class Compiler {
 public:
  Compiler(const model::Model& model, const CompileOptions& options)
      : name_(model.name), options_(options), parameters_(model::parameters_of(model)), nodes_(lower(model)) {
    if (nodes_.empty()) throw Error(Fault::usage, "model {} has no layer that computes", name_);
    if (options.trim) nodes_ = trim(std::move(nodes_));
    if (options.fuse) nodes_ = fuse(std::move(nodes_));
    // What is not needed of the picture is not loaded, but the program's input is the whole picture.
    program_.input = model.input;
    program_.classes = model::classes_of(model);
    for (const model::Parameter& p : parameters_) {
      program_.parameters.push_back(add_buffer(p.name, Role::parameter, p.elements()));
    }
  }

  Program training() {
    if (parameters_.empty()) throw Error(Fault::usage, "model {} has nothing to train", name_);
    for (const model::Parameter& p : parameters_) {
      partials_.push_back(add_buffer(p.name + ".partial", Role::partial, p.elements()));
      program_.gradients.push_back(add_buffer(p.name + ".gradient", Role::gradient, p.elements()));
    }
    forward();
    backward();
    if (options_.momentum) add_velocities();
    segment("exchange", Segment::Over::exchange, {});
    if (options_.shard_optimizer == nullptr) {
      std::vector<BufferId> checked{program_.loss};
      checked.insert(checked.end(), program_.gradients.begin(), program_.gradients.end());
      segment("check", Segment::Over::elements, {{Check{}, "", checked, {}}});
      segment("update", Segment::Over::elements, updates());
    }
    return finish();
  }

  Program evaluation() {
    forward();
    score();
    segment("exchange", Segment::Over::exchange, {});
    return finish();
  }

 private:
  BufferId add_buffer(std::string name, Role role, std::size_t elements) {
    program_.buffers.push_back({std::move(name), role, elements});
    return static_cast<BufferId>(program_.buffers.size()) - 1;
  }
  BufferId add_activation(std::string name, const Shape& shape) {
    return add_buffer(std::move(name), Role::activation, static_cast<std::size_t>(shape.elements()));
  }
  const Buffer& buffer(BufferId id) const { return program_.buffers[static_cast<std::size_t>(id)]; }
  void segment(std::string name, Segment::Over over, std::vector<Instruction> instructions) {
    program_.segments.push_back({std::move(name), over, std::move(instructions)});
  }
  BufferId prepare(const ConvolutionNode& node, Prepare::Use use) {
    const model::Parameter& weight = parameters_[static_cast<std::size_t>(node.weight)];
    constexpr std::array kSuffixes{".forward", ".backward", ".frequencies"};
    const BufferId prepared = add_buffer(weight.name + kSuffixes[static_cast<std::size_t>(use)],
                                         Role::prepared, node.convolution.weights());
    prepares_.push_back({Prepare{node.convolution, use},
                         weight.name,
                         {program_.parameters[static_cast<std::size_t>(node.weight)]},
                         {prepared}});
    return prepared;
  }

  void forward() {
    values_.push_back(add_activation("input", program_.input));
    labels_ = add_buffer("labels", Role::labels, 1);
    packs_.push_back({Load{program_.input}, "input", {}, {values_[0], labels_}});
    for (const Node& node : nodes_) {
      const BufferId x = values_.back(), y = add_activation(node.name, node.output);
      masks_.push_back(-1);
      prepared_.push_back(-1);
      if (const auto* n = std::get_if<ConvolutionNode>(&node.kind)) {
        std::vector<BufferId> outputs{y};
        if (n->epilogue == Epilogue::relu_average_pool) {
          masks_.back() = add_buffer(node.name + ".mask", Role::mask,
                                     static_cast<std::size_t>(n->convolution.output.elements()));
          outputs.push_back(masks_.back());
        }
        const bool winograd = n->convolution.algorithms.winograd();
        const BufferId weights = prepare(*n, winograd ? Prepare::Use::frequencies : Prepare::Use::forward);
        const BufferId bias = program_.parameters[static_cast<std::size_t>(n->bias)];
        packs_.push_back({Forward{n->convolution, n->epilogue}, node.name, {x, weights, bias}, outputs});
        prepared_.back() = weights;
      } else if (const auto* p = std::get_if<PoolNode>(&node.kind)) {
        packs_.push_back({PoolForward{p->pool}, node.name, {x}, {y}});
      } else {
        packs_.push_back({ReluForward{}, node.name, {x}, {y}});
      }
      values_.push_back(y);
    }
    losses_ = add_activation("losses", {1, 1, 1});
    loss_partial_ = add_buffer("loss.partial", Role::partial, 1);
    program_.loss = add_buffer("loss", Role::gradient, 1);
    program_.tally = add_buffer("tally", Role::tally, 2 * static_cast<std::size_t>(program_.classes));
    program_.sums.push_back({loss_partial_, program_.loss});
  }

  void score() {
    packs_.push_back({Loss{program_.classes},
                      "loss",
                      {values_.back(), labels_},
                      {losses_, loss_partial_, program_.tally}});
  }

  void backward() {
    BufferId gradient = add_activation(nodes_.back().name + ".d", nodes_.back().output);
    packs_.push_back({Loss{program_.classes},
                      "loss",
                      {values_.back(), labels_},
                      {losses_, loss_partial_, program_.tally, gradient}});
    const std::size_t first = first_with_parameters();
    for (std::size_t i = nodes_.size(); i-- > first;) {
      const bool last = i == first;
      const Node& node = nodes_[i];
      if (const auto* n = std::get_if<ConvolutionNode>(&node.kind)) {
        gradient = backward_convolution(i, *n, gradient, last);
      } else if (const auto* p = std::get_if<PoolNode>(&node.kind)) {
        std::vector<BufferId> inputs{gradient};
        if (p->pool.kind == Pool::Kind::maximum) inputs.push_back(values_[i]);
        gradient = add_activation(node.name + ".dx", node.input);
        packs_.push_back({PoolBackward{p->pool}, node.name, inputs, {gradient}});
      } else {
        packs_.push_back({ReluBackward{}, node.name, {gradient, values_[i + 1]}, {gradient}});
      }
    }
  }

  // Returns the gradient of the node's input, or -1 for the last node of the way back, where nobody needs it.
  BufferId backward_convolution(std::size_t i, const ConvolutionNode& n, BufferId gradient, bool last) {
    const Node& node = nodes_[i];
    std::vector<BufferId> sums;
    for (const int parameter : {n.weight, n.bias}) {
      const auto p = static_cast<std::size_t>(parameter);
      sums.push_back(partials_[p]);
      program_.sums.push_back({partials_[p], program_.gradients[p], program_.parameters[p]});
    }
    if (n.epilogue == Epilogue::relu_average_pool) {
      if (last && n.convolution.algorithms.weight_gradient == arithmetic::WeightGradientAlgorithm::per_lane) {
        packs_.push_back({UnpoolWeightGradient{n.convolution, n.pool},
                          node.name,
                          {values_[i], gradient, masks_[i]},
                          sums});
        return -1;
      }
      const BufferId unpooled = add_activation(node.name + ".dy", n.convolution.output);
      packs_.push_back({Unpool{n.pool}, node.name, {gradient, masks_[i]}, {unpooled}});
      gradient = unpooled;
    } else if (n.epilogue == Epilogue::relu) {
      packs_.push_back({ReluBackward{}, node.name, {gradient, values_[i + 1]}, {gradient}});
    }
    BufferId below = -1;
    if (!last) {
      const BufferId weights =
          n.convolution.algorithms.winograd() ? prepared_[i] : prepare(n, Prepare::Use::input_gradient);
      below = add_activation(node.name + ".dx", node.input);
      packs_.push_back({InputGradient{n.convolution}, node.name, {gradient, weights}, {below}});
    }
    packs_.push_back({WeightGradient{n.convolution}, node.name, {values_[i], gradient}, sums});
    return below;
  }

  std::size_t first_with_parameters() const {
    std::size_t first = 0;
    while (!std::holds_alternative<ConvolutionNode>(nodes_[first].kind)) ++first;
    return first;
  }

  // A whole velocity beside each parameter or, with a sharded optimizer, of the part the device owns.
  void add_velocities() {
    const exchange::Setting setting = sums_of(program_);
    const std::vector<exchange::Shard> shards =
        options_.shard_optimizer == nullptr
            ? std::vector<exchange::Shard>{}
            : options_.shard_optimizer->shards(setting.sums, options_.devices);
    program_.velocities.assign(parameters_.size(), -1);
    for (std::size_t i = 0; i < program_.sums.size(); ++i) {
      Sum& sum = program_.sums[i];
      if (sum.parameter < 0) continue;
      exchange::Range owned{static_cast<int>(i), 0,
                            options_.shard_optimizer == nullptr ? setting.sums[i] : 0};
      for (const exchange::Shard& shard : shards) {
        if (shard.range.sum == owned.sum && shard.owner == options_.device) owned = shard.range;
      }
      sum.velocity_first = owned.first;
      sum.velocity = add_buffer(buffer(sum.parameter).name + ".velocity", Role::velocity, owned.count);
      const auto at = std::ranges::find(program_.parameters, sum.parameter) - program_.parameters.begin();
      program_.velocities[static_cast<std::size_t>(at)] = sum.velocity;
    }
  }

  std::vector<Instruction> updates() const {
    std::vector<Instruction> list;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      Instruction update{Update{},
                         parameters_[i].name,
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

  Program finish() {
    program_.segments.insert(program_.segments.begin(),
                             {{"prepare", Segment::Over::elements, std::move(prepares_)},
                              {"packs", Segment::Over::packs, std::move(packs_)}});
    check_program(program_);
    return std::move(program_);
  }

  const std::string name_;
  const CompileOptions options_;
  std::vector<model::Parameter> parameters_;
  std::vector<Node> nodes_;
  Program program_;
  std::vector<Instruction> prepares_, packs_;
  std::vector<BufferId> values_;            // entry i is the input of node i
  std::vector<BufferId> masks_, prepared_;  // by node, -1 where there is none
  std::vector<BufferId> partials_;
  BufferId labels_ = -1, losses_ = -1, loss_partial_ = -1;
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
