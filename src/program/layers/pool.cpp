#include "program/layers/pool.h"

#include "model/layer.h"
#include "program/builder.h"
#include "program/reach.h"

namespace lockstep::program {

Signature PoolForward::signature() { return {{Role::activation}, {Role::activation}}; }

Signature PoolBackward::signature() {
  return {
      .inputs = {Role::activation, Role::activation}, .outputs = {Role::activation}, .optional_inputs = 1};
}

Signature Unpool::signature() { return {{Role::activation, Role::mask}, {Role::activation}}; }

PoolNode PoolNode::of(const model::AvgPool& layer, const LayerPlace& place) {
  return {{Pool::Kind::average, place.input, place.output, layer.window, layer.stride, layer.padding}};
}

PoolNode PoolNode::of(const model::MaxPool& layer, const LayerPlace& place) {
  return {{Pool::Kind::maximum, place.input, place.output, layer.window, layer.stride, layer.padding}};
}

PoolNode PoolNode::of(const model::GlobalAvgPool&, const LayerPlace& place) {
  return of(model::GlobalAvgPool::on(place.input), place);
}

Shape PoolNode::needed_input(const Shape& output, const Shape& whole) const {
  return reach(output, whole, {pool.window, pool.stride, pool.padding});
}

void PoolNode::resize(const Shape& input, const Shape& output) {
  pool.input = input;
  pool.output = output;
}

// A plain 2x2 average whose windows tile what the convolution gives.
bool PoolNode::join(ConvolutionNode& before) const {
  const bool plain = pool.kind == Pool::Kind::average && pool.window == Extent{2, 2} &&
                     pool.stride == Extent{2, 2} && pool.padding == Extent{0, 0} &&
                     pool.input.height == 2 * pool.output.height && pool.input.width == 2 * pool.output.width;
  if (!plain || before.epilogue != Epilogue::relu) return false;
  before.epilogue = Epilogue::relu_average_pool;
  before.pool = pool;
  return true;
}

void PoolNode::forward(Builder& builder, const Node& node) const {
  const BufferId y = builder.add_output(node);
  builder.emit({PoolForward{pool}, node.name, {builder.input(node)}, {y}});
}

void PoolNode::backward(Builder& builder, const Node& node) const {
  std::vector<BufferId> inputs{builder.gradient(node)};
  if (pool.kind == Pool::Kind::maximum) inputs.push_back(builder.input(node));
  const BufferId dx = builder.add_activation(node.name + ".dx", node.input);
  builder.emit({PoolBackward{pool}, node.name, inputs, {dx}});
  builder.add_gradient(node, 0, dx);
}

}  // namespace lockstep::program
