#include "program/node.h"

namespace lockstep::program {
namespace {

// Turns one layer into at most one node; `parameter` is the index of its weight, if it has one.
struct Lowering {
  const model::Layer& layer;
  Shape input, output;
  arithmetic::ConvolutionRule rule;
  int parameter;
  std::vector<Node>& nodes;

  void operator()(const model::Conv2d& conv) const {
    const arithmetic::ConvolutionShape whole{
        input.channels,    output.channels,    input.height,      input.width,         conv.kernel.height,
        conv.kernel.width, conv.stride.height, conv.stride.width, conv.padding.height, conv.padding.width};
    add(ConvolutionNode{.convolution = {input, output, conv.kernel, conv.stride, conv.padding,
                                        arithmetic::algorithms_for(whole, rule)},
                        .weight = parameter,
                        .bias = parameter + 1});
  }
  void operator()(const model::Linear&) const {
    add(ConvolutionNode{
        .convolution = {.input = input, .output = output}, .weight = parameter, .bias = parameter + 1});
  }
  void operator()(const model::Relu&) const { add(ReluNode{}); }
  void operator()(const model::AvgPool& pool) const {
    add(PoolNode{{Pool::Kind::average, input, output, pool.window, pool.stride, pool.padding}});
  }
  void operator()(const model::MaxPool& pool) const {
    add(PoolNode{{Pool::Kind::maximum, input, output, pool.window, pool.stride, pool.padding}});
  }
  void operator()(const model::Flatten&) const {}

  template <class Kind>
  void add(Kind kind) const {
    nodes.push_back({layer.name, std::move(kind), input, output});
  }
};

}  // namespace

std::vector<Node> lower(const model::Model& model) {
  const std::vector<Shape> shapes = model::infer_shapes(model);
  const std::vector<model::Parameter> parameters = model::parameters_of(model);
  std::vector<Node> nodes;
  int parameter = 0;
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    std::visit(Lowering{model.layers[i], shapes[i], shapes[i + 1], model.convolution, parameter, nodes},
               model.layers[i].kind);
    while (static_cast<std::size_t>(parameter) < parameters.size() &&
           parameters[static_cast<std::size_t>(parameter)].layer == static_cast<int>(i)) {
      ++parameter;
    }
  }
  return nodes;
}

}  // namespace lockstep::program
