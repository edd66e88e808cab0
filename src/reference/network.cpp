#include "reference/network.h"

#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include "reference/add.h"
#include "reference/batch_norm.h"
#include "reference/convolution.h"
#include "reference/linear.h"
#include "reference/pool.h"
#include "reference/relu.h"
#include "reference/winograd.h"

namespace lockstep::reference {
namespace {

arithmetic::ConvolutionShape shape_of(const model::Conv2d& conv, const model::Shape& in) {
  return {in.channels,         conv.out_channels,  in.height,          in.width,
          conv.kernel.height,  conv.kernel.width,  conv.stride.height, conv.stride.width,
          conv.padding.height, conv.padding.width, conv.groups};
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

// A global pool: one window of H x W.
PoolShape whole_image(const model::Shape& in) {
  return {in.channels, in.height, in.width, in.height, in.width, in.height, in.width, 0, 0};
}

BatchNormShape shape_of(const model::BatchNorm& norm, const model::Shape& in) {
  return {in.channels, in.height, in.width, norm.ghost, static_cast<float>(norm.eps)};
}

// What batch norms take their statistics from.
enum class StatisticsFrom { minibatch, running };

// A layer in its place. Parameters that it does not have are null; the scale of a batch norm is its weight.
struct Place {
  std::vector<int> inputs;  // numbers of values
  model::Shape in;          // of the first input
  int examples;
  arithmetic::ConvolutionRule rule;
  StatisticsFrom statistics;
  std::string_view name;
  const Draws* draws;  // null in an evaluation
  const Tensor *weight = nullptr, *bias = nullptr, *running_mean = nullptr, *running_var = nullptr;

  void set(model::ParameterRole role, const Tensor& values) {
    switch (role) {
      case model::ParameterRole::weight:
      case model::ParameterRole::scale:
        weight = &values;
        break;
      case model::ParameterRole::bias:
        bias = &values;
        break;
      case model::ParameterRole::running_mean:
        running_mean = &values;
        break;
      case model::ParameterRole::running_var:
        running_var = &values;
        break;
    }
  }

  // None: empty.
  std::span<const float> biases() const { return bias == nullptr ? std::span<const float>() : *bias; }
};

// The tensors that a layer takes.
using Inputs = std::vector<const Tensor*>;

Tensor give(const model::Conv2d& conv, const Place& place, const Inputs& x) {
  const arithmetic::ConvolutionShape shape = shape_of(conv, place.in);
  const arithmetic::ConvolutionAlgorithms algorithms = algorithms_for(shape, place.rule);
  if (algorithms.winograd()) {
    return winograd_forward(shape, algorithms.tile, place.examples, *x[0], *place.weight, place.biases());
  }
  return convolution_forward(shape, place.examples, *x[0], *place.weight, place.biases());
}
Tensor give(const model::Linear& linear, const Place& place, const Inputs& x) {
  return linear_forward(shape_of(linear, place.in), place.examples, *x[0], *place.weight, place.biases());
}
Tensor give(const model::Relu&, const Place&, const Inputs& x) { return relu_forward(*x[0]); }
Tensor give(const model::AvgPool& pool, const Place& place, const Inputs& x) {
  return average_pool_forward(pool_shape(pool, place.in), place.examples, *x[0]);
}
Tensor give(const model::MaxPool& pool, const Place& place, const Inputs& x) {
  return max_pool_forward(pool_shape(pool, place.in), place.examples, *x[0]);
}
Tensor give(const model::GlobalAvgPool&, const Place& place, const Inputs& x) {
  return average_pool_forward(whole_image(place.in), place.examples, *x[0]);
}
Tensor give(const model::Flatten&, const Place&, const Inputs& x) { return *x[0]; }
Tensor give(const model::Add&, const Place&, const Inputs& x) { return add(*x[0], *x[1]); }
Tensor give(const model::BatchNorm& norm, const Place& place, const Inputs& x) {
  const BatchNormShape shape = shape_of(norm, place.in);
  const NormParameters parameters{*place.weight, *place.bias};
  switch (place.statistics) {
    case StatisticsFrom::minibatch:
      return batch_norm_forward(shape, place.examples, *x[0], parameters);
    case StatisticsFrom::running:
      return batch_norm_evaluation(shape, place.examples, *x[0], parameters,
                                   {*place.running_mean, *place.running_var});
  }
  return {};
}
DropoutLayer dropout_layer(const model::Dropout& drops, const Place& place) {
  return {place.name, drops.p, static_cast<std::size_t>(place.in.elements())};
}
Tensor give(const model::Dropout& drops, const Place& place, const Inputs& x) {
  return place.draws == nullptr ? *x[0] : dropout(dropout_layer(drops, place), *place.draws, *x[0]);
}

// What a layer has at hand on the way back.
struct Back {
  Inputs x;
  const Tensor& y;
  const Tensor& dy;
};

// One gradient for each input.
using InputGradients = std::vector<Tensor>;

InputGradients input_gradients(const model::Conv2d& conv, const Place& place, const Back& back) {
  const arithmetic::ConvolutionShape shape = shape_of(conv, place.in);
  const arithmetic::ConvolutionAlgorithms algorithms = algorithms_for(shape, place.rule);
  if (algorithms.winograd()) {
    return {winograd_input_gradient(shape, algorithms.tile, place.examples, back.dy, *place.weight)};
  }
  return {convolution_input_gradient(shape, place.examples, back.dy, *place.weight)};
}
InputGradients input_gradients(const model::Linear& linear, const Place& place, const Back& back) {
  return {linear_input_gradient(shape_of(linear, place.in), place.examples, back.dy, *place.weight)};
}
InputGradients input_gradients(const model::Relu&, const Place&, const Back& back) {
  return {relu_gradient(back.y, back.dy)};
}
InputGradients input_gradients(const model::AvgPool& pool, const Place& place, const Back& back) {
  return {average_pool_gradient(pool_shape(pool, place.in), place.examples, back.dy)};
}
InputGradients input_gradients(const model::MaxPool& pool, const Place& place, const Back& back) {
  return {max_pool_gradient(pool_shape(pool, place.in), place.examples, *back.x[0], back.dy)};
}
InputGradients input_gradients(const model::GlobalAvgPool&, const Place& place, const Back& back) {
  return {average_pool_gradient(whole_image(place.in), place.examples, back.dy)};
}
InputGradients input_gradients(const model::Flatten&, const Place&, const Back& back) { return {back.dy}; }
InputGradients input_gradients(const model::Add&, const Place&, const Back& back) {
  return {back.dy, back.dy};
}
InputGradients input_gradients(const model::BatchNorm& norm, const Place& place, const Back& back) {
  return {batch_norm_input_gradient(shape_of(norm, place.in), place.examples, *back.x[0], back.dy,
                                    *place.weight)};
}
InputGradients input_gradients(const model::Dropout& drops, const Place& place, const Back& back) {
  return {dropout(dropout_layer(drops, place), *place.draws, back.dy)};
}

using WeightAndBias = std::array<Tensor, 2>;  // the second is not used where there is no bias

WeightAndBias parameter_gradients(const model::Conv2d& conv, const Place& place, const Back& back) {
  const arithmetic::ConvolutionShape shape = shape_of(conv, place.in);
  const arithmetic::ConvolutionAlgorithms algorithms = algorithms_for(shape, place.rule);
  return {algorithms.winograd()
              ? winograd_weight_gradient(shape, algorithms.tile, place.examples, *back.x[0], back.dy)
              : convolution_weight_gradient(shape, place.examples, *back.x[0], back.dy),
          convolution_bias_gradient(shape, place.examples, back.dy)};
}
WeightAndBias parameter_gradients(const model::Linear& linear, const Place& place, const Back& back) {
  const LinearShape shape = shape_of(linear, place.in);
  return {linear_weight_gradient(shape, place.examples, *back.x[0], back.dy),
          linear_bias_gradient(shape, place.examples, back.dy)};
}
WeightAndBias parameter_gradients(const model::Relu&, const Place&, const Back&) { return {}; }
WeightAndBias parameter_gradients(const model::AvgPool&, const Place&, const Back&) { return {}; }
WeightAndBias parameter_gradients(const model::MaxPool&, const Place&, const Back&) { return {}; }
WeightAndBias parameter_gradients(const model::GlobalAvgPool&, const Place&, const Back&) { return {}; }
WeightAndBias parameter_gradients(const model::Flatten&, const Place&, const Back&) { return {}; }
WeightAndBias parameter_gradients(const model::Add&, const Place&, const Back&) { return {}; }
WeightAndBias parameter_gradients(const model::BatchNorm& norm, const Place& place, const Back& back) {
  const BatchNormShape shape = shape_of(norm, place.in);
  return {batch_norm_scale_gradient(shape, place.examples, *back.x[0], back.dy),
          batch_norm_bias_gradient(shape, place.examples, back.dy)};
}
WeightAndBias parameter_gradients(const model::Dropout&, const Place&, const Back&) { return {}; }

Tensor of_role(WeightAndBias& gradients, model::ParameterRole role) {
  switch (role) {
    case model::ParameterRole::weight:
    case model::ParameterRole::scale:
      return std::move(gradients[0]);
    case model::ParameterRole::bias:
      return std::move(gradients[1]);
    case model::ParameterRole::running_mean:
    case model::ParameterRole::running_var:
      break;
  }
  return {};
}

std::vector<Place> places_of(const model::Model& model, std::span<const Tensor> parameters, int examples,
                             StatisticsFrom statistics, const Draws* draws) {
  std::vector<Place> places;
  const std::vector<model::Shape> shapes = model::infer_shapes(model);
  for (const std::vector<int>& inputs : model::inputs_of(model)) {
    const model::Shape& in = shapes[static_cast<std::size_t>(inputs.front())];
    const std::string_view name = model.layers[places.size()].name;
    places.push_back({inputs, in, examples, model.convolution, statistics, name, draws});
  }
  const std::vector<model::Parameter> named = model::parameters_of(model);
  for (std::size_t p = 0; p < named.size(); ++p) {
    places[static_cast<std::size_t>(named[p].layer)].set(named[p].role, parameters[p]);
  }
  return places;
}

Inputs inputs_of(const Place& place, std::span<const Tensor> values) {
  Inputs inputs;
  inputs.reserve(place.inputs.size());
  for (const int value : place.inputs) inputs.push_back(&values[static_cast<std::size_t>(value)]);
  return inputs;
}

// Gradients meet at a value in the order in which the backward pass makes them.
void add_gradient(Tensor& gradient, Tensor next) {
  gradient = gradient.empty() ? std::move(next) : add(gradient, next);
}

std::vector<Tensor> values_of(const model::Model& model, const std::vector<Place>& places,
                              std::span<const float> input) {
  std::vector<Tensor> values{Tensor(input.begin(), input.end())};
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Inputs x = inputs_of(places[i], values);
    Tensor y = std::visit([&](const auto& kind) { return give(kind, places[i], x); }, model.layers[i].kind);
    values.push_back(std::move(y));
  }
  return values;
}

}  // namespace

std::vector<Tensor> forward(const model::Model& model, std::span<const Tensor> parameters, int examples,
                            std::span<const float> input, const Draws& draws) {
  return values_of(model, places_of(model, parameters, examples, StatisticsFrom::minibatch, &draws), input);
}

std::vector<Tensor> evaluation_forward(const model::Model& model, std::span<const Tensor> parameters,
                                       int examples, std::span<const float> input) {
  return values_of(model, places_of(model, parameters, examples, StatisticsFrom::running, nullptr), input);
}

std::vector<Tensor> backward(const model::Model& model, std::span<const Tensor> parameters, int examples,
                             std::span<const Tensor> activations, Tensor dz, const Draws& draws) {
  const std::vector<Place> places = places_of(model, parameters, examples, StatisticsFrom::minibatch, &draws);
  std::vector<WeightAndBias> of_parameters(places.size());
  std::vector<Tensor> of_values(places.size() + 1);
  of_values.back() = std::move(dz);
  for (std::size_t i = places.size(); i-- > 0;) {
    const Back back{inputs_of(places[i], activations), activations[i + 1], of_values[i + 1]};
    const auto& kind = model.layers[i].kind;
    of_parameters[i] =
        std::visit([&](const auto& k) { return parameter_gradients(k, places[i], back); }, kind);
    const std::vector<int>& inputs = places[i].inputs;
    if (inputs == std::vector<int>{0}) continue;  // nothing needs the gradient of the model's input
    InputGradients dx = std::visit([&](const auto& k) { return input_gradients(k, places[i], back); }, kind);
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      if (inputs[k] != 0) add_gradient(of_values[static_cast<std::size_t>(inputs[k])], std::move(dx[k]));
    }
  }
  std::vector<Tensor> in_parameter_order;
  for (const model::Parameter& parameter : model::parameters_of(model)) {
    WeightAndBias& gradients = of_parameters[static_cast<std::size_t>(parameter.layer)];
    in_parameter_order.push_back(of_role(gradients, parameter.role));
  }
  return in_parameter_order;
}

void update_running_statistics(const model::Model& model, std::span<Tensor> parameters, int examples,
                               std::span<const Tensor> activations) {
  const std::vector<std::vector<int>> inputs = model::inputs_of(model);
  const std::vector<model::Shape> shapes = model::infer_shapes(model);
  const std::vector<model::Parameter> named = model::parameters_of(model);
  for (std::size_t p = 0; p < named.size(); ++p) {
    if (named[p].role != model::ParameterRole::running_mean) continue;
    const auto layer = static_cast<std::size_t>(named[p].layer);
    const auto& norm = std::get<model::BatchNorm>(model.layers[layer].kind);
    const auto x = static_cast<std::size_t>(inputs[layer].front());
    // the running variance is the next parameter
    update_running_statistics(shape_of(norm, shapes[x]), examples, activations[x],
                              static_cast<float>(norm.momentum), {parameters[p], parameters[p + 1]});
  }
}

}  // namespace lockstep::reference
