#include "reference/chain.h"

#include <array>
#include <cstddef>
#include <utility>

#include "reference/convolution.h"
#include "reference/linear.h"
#include "reference/pool.h"
#include "reference/relu.h"
#include "reference/winograd.h"

namespace lockstep::reference {
namespace {

arithmetic::ConvolutionShape shape_of(const model::Conv2d& conv, const model::Shape& in) {
  return {in.channels,         conv.out_channels, in.height,          in.width,
          conv.kernel.height,  conv.kernel.width, conv.stride.height, conv.stride.width,
          conv.padding.height, conv.padding.width};
}

LinearShape shape_of(const model::Linear& linear, const model::Shape& in) {
  return {in.channels, linear.out_units};
}

template <class Pool>
PoolShape pool_shape(const Pool& pool, const model::Shape& in) {
  return {in.channels,        in.height,           in.width,
          pool.window.height, pool.window.width,   pool.stride.height,
          pool.stride.width,  pool.padding.height, pool.padding.width};
}

// A layer in its place: `weight` and `bias` are null where it has none.
struct Place {
  model::Shape in;
  int examples;
  arithmetic::ConvolutionRule rule;
  const Tensor* weight;
  const Tensor* bias;
};

Tensor give(const model::Conv2d& conv, const Place& place, const Tensor& x) {
  const arithmetic::ConvolutionShape shape = shape_of(conv, place.in);
  const arithmetic::ConvolutionAlgorithms algorithms = algorithms_for(shape, place.rule);
  if (algorithms.winograd()) {
    return winograd_forward(shape, algorithms.tile, place.examples, x, *place.weight, *place.bias);
  }
  return convolution_forward(shape, place.examples, x, *place.weight, *place.bias);
}
Tensor give(const model::Linear& linear, const Place& place, const Tensor& x) {
  return linear_forward(shape_of(linear, place.in), place.examples, x, *place.weight, *place.bias);
}
Tensor give(const model::Relu&, const Place&, const Tensor& x) { return relu_forward(x); }
Tensor give(const model::AvgPool& pool, const Place& place, const Tensor& x) {
  return average_pool_forward(pool_shape(pool, place.in), place.examples, x);
}
Tensor give(const model::MaxPool& pool, const Place& place, const Tensor& x) {
  return max_pool_forward(pool_shape(pool, place.in), place.examples, x);
}
Tensor give(const model::Flatten&, const Place&, const Tensor& x) { return x; }

// What a layer has at hand on the way back.
struct Back {
  const Tensor& x;
  const Tensor& y;
  const Tensor& dy;
};

Tensor input_gradient(const model::Conv2d& conv, const Place& place, const Back& back) {
  const arithmetic::ConvolutionShape shape = shape_of(conv, place.in);
  const arithmetic::ConvolutionAlgorithms algorithms = algorithms_for(shape, place.rule);
  if (algorithms.winograd()) {
    return winograd_input_gradient(shape, algorithms.tile, place.examples, back.dy, *place.weight);
  }
  return convolution_input_gradient(shape, place.examples, back.dy, *place.weight);
}
Tensor input_gradient(const model::Linear& linear, const Place& place, const Back& back) {
  return linear_input_gradient(shape_of(linear, place.in), place.examples, back.dy, *place.weight);
}
Tensor input_gradient(const model::Relu&, const Place&, const Back& back) {
  return relu_gradient(back.y, back.dy);
}
Tensor input_gradient(const model::AvgPool& pool, const Place& place, const Back& back) {
  return average_pool_gradient(pool_shape(pool, place.in), place.examples, back.dy);
}
Tensor input_gradient(const model::MaxPool& pool, const Place& place, const Back& back) {
  return max_pool_gradient(pool_shape(pool, place.in), place.examples, back.x, back.dy);
}
Tensor input_gradient(const model::Flatten&, const Place&, const Back& back) { return back.dy; }

using WeightAndBias = std::array<Tensor, 2>;

WeightAndBias parameter_gradients(const model::Conv2d& conv, const Place& place, const Back& back) {
  const arithmetic::ConvolutionShape shape = shape_of(conv, place.in);
  const arithmetic::ConvolutionAlgorithms algorithms = algorithms_for(shape, place.rule);
  return {algorithms.winograd()
              ? winograd_weight_gradient(shape, algorithms.tile, place.examples, back.x, back.dy)
              : convolution_weight_gradient(shape, place.examples, back.x, back.dy),
          convolution_bias_gradient(shape, place.examples, back.dy)};
}
WeightAndBias parameter_gradients(const model::Linear& linear, const Place& place, const Back& back) {
  const LinearShape shape = shape_of(linear, place.in);
  return {linear_weight_gradient(shape, place.examples, back.x, back.dy),
          linear_bias_gradient(shape, place.examples, back.dy)};
}
template <class Kind>
WeightAndBias parameter_gradients(const Kind&, const Place&, const Back&) {
  return {};
}

std::vector<Place> places_of(const model::Model& model, std::span<const Tensor> parameters, int examples) {
  std::vector<Place> places;
  const std::vector<model::Shape> shapes = model::infer_shapes(model);
  for (std::size_t i = 0; i < model.layers.size(); ++i)
    places.push_back({shapes[i], examples, model.convolution, nullptr, nullptr});
  const std::vector<model::Parameter> named = model::parameters_of(model);
  for (std::size_t p = 0; p < named.size(); ++p) {
    Place& place = places[static_cast<std::size_t>(named[p].layer)];
    (named[p].role == model::Parameter::Role::weight ? place.weight : place.bias) = &parameters[p];
  }
  return places;
}

}  // namespace

std::vector<Tensor> forward(const model::Model& model, std::span<const Tensor> parameters, int examples,
                            std::span<const float> input) {
  const std::vector<Place> places = places_of(model, parameters, examples);
  std::vector<Tensor> activations{Tensor(input.begin(), input.end())};
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Tensor& x = activations.back();
    activations.push_back(
        std::visit([&](const auto& kind) { return give(kind, places[i], x); }, model.layers[i].kind));
  }
  return activations;
}

std::vector<Tensor> backward(const model::Model& model, std::span<const Tensor> parameters, int examples,
                             std::span<const Tensor> activations, Tensor dz) {
  const std::vector<Place> places = places_of(model, parameters, examples);
  std::vector<WeightAndBias> gradients(places.size());
  Tensor dy = std::move(dz);
  for (std::size_t i = places.size(); i-- > 0;) {
    const Back back{activations[i], activations[i + 1], dy};
    const auto& kind = model.layers[i].kind;
    gradients[i] = std::visit([&](const auto& k) { return parameter_gradients(k, places[i], back); }, kind);
    if (i > 0) dy = std::visit([&](const auto& k) { return input_gradient(k, places[i], back); }, kind);
  }
  std::vector<Tensor> in_parameter_order;
  for (const model::Parameter& parameter : model::parameters_of(model)) {
    WeightAndBias& pair = gradients[static_cast<std::size_t>(parameter.layer)];
    in_parameter_order.push_back(std::move(pair[parameter.role == model::Parameter::Role::weight ? 0 : 1]));
  }
  return in_parameter_order;
}

}  // namespace lockstep::reference
