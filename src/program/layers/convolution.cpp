#include "program/layers/convolution.h"

#include <array>

#include "program/builder.h"
#include "program/reach.h"

namespace lockstep::program {
namespace {

// Every output of a tile depends on all of the tile's input, to the last bit.
Shape in_tiles(const Shape& output, const arithmetic::ConvolutionAlgorithms& algorithms) {
  if (!algorithms.winograd()) return output;
  const auto whole = [tile = algorithms.tile](int outputs) { return (outputs + tile - 1) / tile * tile; };
  return {output.channels, whole(output.height), whole(output.width)};
}

BufferId prepare(Builder& builder, const ConvolutionNode& n, Prepare::Use use) {
  constexpr std::array kSuffixes{".forward", ".backward", ".frequencies"};
  const BufferId weight = builder.parameter(n.weight);
  const std::string name = builder.buffer(weight).name;
  const BufferId prepared = builder.add_buffer(name + kSuffixes[static_cast<std::size_t>(use)],
                                               Role::prepared, n.convolution.weights());
  builder.emit_prepare({Prepare{n.convolution, use}, name, {weight}, {prepared}});
  return prepared;
}

// The gradient of what the convolution itself gives, before its epilogue.
BufferId before_epilogue(Builder& builder, const Node& node, const ConvolutionNode& n) {
  switch (n.epilogue) {
    case Epilogue::none:
      break;
    case Epilogue::relu:
      return builder.gradient_before_relu(node);
    case Epilogue::relu_average_pool: {
      const BufferId unpooled = builder.add_activation(node.name + ".dy", n.convolution.output);
      builder.emit(
          {Unpool{n.pool}, node.name, {builder.gradient(node), builder.kept(node, "mask")}, {unpooled}});
      return unpooled;
    }
  }
  return builder.gradient(node);
}

}  // namespace

Shape ConvolutionNode::needed_input(const Shape& output, const Shape& whole) const {
  const Convolution& c = convolution;
  return reach(in_tiles(output, c.algorithms), whole, {c.kernel, c.stride, c.padding});
}

void ConvolutionNode::resize(const Shape& input, const Shape& output) {
  convolution.input = input;
  convolution.output = output;
}

void ConvolutionNode::forward(Builder& builder, const Node& node) const {
  std::vector<BufferId> outputs{builder.add_output(node)};
  if (epilogue == Epilogue::relu_average_pool) {
    const auto elements = static_cast<std::size_t>(convolution.output.elements());
    outputs.push_back(builder.add_buffer(node.name + ".mask", Role::mask, elements));
    builder.keep(node, "mask", outputs.back());
  }
  const bool winograd = convolution.algorithms.winograd();
  const BufferId weights =
      prepare(builder, *this, winograd ? Prepare::Use::frequencies : Prepare::Use::forward);
  builder.keep(node, "weights", weights);
  std::vector<BufferId> inputs{builder.input(node), weights};
  if (bias >= 0) inputs.push_back(builder.parameter(bias));
  builder.emit({Forward{convolution, epilogue}, node.name, inputs, outputs});
}

void ConvolutionNode::backward(Builder& builder, const Node& node) const {
  std::vector<BufferId> sums{builder.sum_of(weight)};
  if (bias >= 0) sums.push_back(builder.sum_of(bias));
  const bool wants_input_gradient = builder.wants_gradient(node.inputs[0]);
  if (epilogue == Epilogue::relu_average_pool && !wants_input_gradient &&
      convolution.algorithms.weight_gradient == arithmetic::WeightGradientAlgorithm::per_lane) {
    builder.emit({UnpoolWeightGradient{convolution, pool},
                  node.name,
                  {builder.input(node), builder.gradient(node), builder.kept(node, "mask")},
                  sums});
    return;
  }
  const BufferId dy = before_epilogue(builder, node, *this);
  BufferId dx = -1;
  if (wants_input_gradient) {
    const BufferId weights = convolution.algorithms.winograd()
                                 ? builder.kept(node, "weights")
                                 : prepare(builder, *this, Prepare::Use::input_gradient);
    dx = builder.add_activation(node.name + ".dx", node.input);
    builder.emit({InputGradient{convolution}, node.name, {dy, weights}, {dx}});
  }
  builder.emit({WeightGradient{convolution}, node.name, {builder.input(node), dy}, sums});
  if (wants_input_gradient) builder.add_gradient(node, 0, dx);
}

}  // namespace lockstep::program
