#include <map>
#include <string_view>

#include "arithmetic/pack.h"
#include "base/error.h"
#include "program/node.h"

namespace lockstep::program {
namespace {

// Turns the kind of a layer into the kind of a node; `parameter` is the index of its first parameter.
struct Lowering {
  const std::string& name;
  Shape input, output;
  arithmetic::ConvolutionRule rule;
  int parameter;

  NodeKind operator()(const model::Conv2d& conv) const {
    const arithmetic::ConvolutionShape whole{input.channels,     output.channels,    input.height,
                                             input.width,        conv.kernel.height, conv.kernel.width,
                                             conv.stride.height, conv.stride.width,  conv.padding.height,
                                             conv.padding.width, conv.groups};
    return ConvolutionNode{.convolution = {input, output, conv.kernel, conv.stride, conv.padding, conv.groups,
                                           arithmetic::algorithms_for(whole, rule)},
                           .weight = parameter,
                           .bias = bias_of(conv)};
  }
  NodeKind operator()(const model::Linear& linear) const {
    return ConvolutionNode{
        .convolution = {.input = input, .output = output}, .weight = parameter, .bias = bias_of(linear)};
  }
  NodeKind operator()(const model::Relu&) const { return ReluNode{}; }
  NodeKind operator()(const model::AvgPool& pool) const {
    return PoolNode{{Pool::Kind::average, input, output, pool.window, pool.stride, pool.padding}};
  }
  NodeKind operator()(const model::MaxPool& pool) const {
    return PoolNode{{Pool::Kind::maximum, input, output, pool.window, pool.stride, pool.padding}};
  }
  NodeKind operator()(const model::GlobalAvgPool&) const { return (*this)(model::GlobalAvgPool::on(input)); }
  NodeKind operator()(const model::Flatten&) const { return FlattenNode{}; }
  NodeKind operator()(const model::Add&) const { return AddNode{}; }
  NodeKind operator()(const model::BatchNorm& norm) const {
    return BatchNormNode{input, parameter, norm.ghost / arithmetic::kPack, static_cast<float>(norm.eps),
                         static_cast<float>(norm.momentum)};
  }
  NodeKind operator()(const model::Dropout& dropout) const { return DropoutNode(name, dropout.p, output); }

  int bias_of(const auto& layer) const { return layer.bias ? parameter + 1 : -1; }
};

// Two streams are equal once in four billion pairs of names.
void check_streams(const std::vector<Node>& nodes) {
  std::map<std::uint32_t, std::string_view> layers;
  for (const Node& node : nodes) {
    const auto* const drops = std::get_if<DropoutNode>(&node.kind);
    if (drops == nullptr) continue;
    const auto [other, is_new] = layers.emplace(drops->dropout.stream, node.name);
    if (!is_new) {
      throw Error(
          Fault::usage,
          "layers {} and {} would drop elements by the same random numbers, because the hashes of their "
          "names are equal; give one of them another name",
          other->second, node.name);
    }
  }
}

}  // namespace

std::vector<Node> lower(const model::Model& model) {
  const std::vector<Shape> shapes = model::infer_shapes(model);
  const std::vector<std::vector<int>> inputs = model::inputs_of(model);
  std::vector<int> first_parameter(model.layers.size() + 1, 0);  // by layer
  for (const model::Parameter& parameter : model::parameters_of(model))
    ++first_parameter[static_cast<std::size_t>(parameter.layer) + 1];
  for (std::size_t i = 1; i < first_parameter.size(); ++i) first_parameter[i] += first_parameter[i - 1];

  std::vector<Node> nodes;
  nodes.reserve(model.layers.size());
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const Shape& input = shapes[static_cast<std::size_t>(inputs[i].front())];
    const Lowering lowering{model.layers[i].name, input, shapes[i + 1], model.convolution,
                            first_parameter[i]};
    nodes.push_back({model.layers[i].name, std::visit(lowering, model.layers[i].kind), input, shapes[i + 1],
                     inputs[i], static_cast<int>(i) + 1});
  }
  check_streams(nodes);
  return nodes;
}

}  // namespace lockstep::program
