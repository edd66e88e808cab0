#include "reference/double_network.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <variant>

namespace lockstep::reference {
namespace {

using model::Shape;

// Parameters of a layer; null where it has none. The scale of a batch norm is its weight.
struct WeightAndBiasInDouble {
  const Doubles* weight = nullptr;
  const Doubles* bias = nullptr;
};

// What a layer makes of one example.
struct DoubleLayer {
  Shape in, out;
  std::vector<std::span<const double>> inputs;
  const Doubles* weight;
  const Doubles* bias;
  std::string_view name;
  const Draws& draws;
  std::size_t example;  // of the minibatch

  std::span<const double> x() const { return inputs[0]; }
  Doubles copy() const { return Doubles(x().begin(), x().end()); }

  static std::size_t at(const Shape& s, int c, int y, int column) {
    return (static_cast<std::size_t>(c) * static_cast<std::size_t>(s.height) + static_cast<std::size_t>(y)) *
               static_cast<std::size_t>(s.width) +
           static_cast<std::size_t>(column);
  }

  // Calls visit(output index, output channel, input y, input x, ky, kx) for every tap inside the image.
  template <class Window, class Visit>
  void visit_taps(const Window& window, model::Extent size, Visit visit) const {
    for (int o = 0; o < out.channels; ++o)
      for (int v = 0; v < out.height; ++v)
        for (int u = 0; u < out.width; ++u)
          for (int ky = 0; ky < size.height; ++ky)
            for (int kx = 0; kx < size.width; ++kx) {
              const int y = v * window.stride.height + ky - window.padding.height;
              const int column = u * window.stride.width + kx - window.padding.width;
              if (y < 0 || y >= in.height || column < 0 || column >= in.width) continue;
              visit(at(out, o, v, u), o, y, column, ky, kx);
            }
  }

  Doubles zeros() const { return Doubles(static_cast<std::size_t>(out.elements())); }

  Doubles operator()(const model::Conv2d& conv) const {
    Doubles y = zeros();
    const int plane = out.height * out.width;
    for (std::size_t i = 0; bias != nullptr && i < y.size(); ++i)
      y[i] = (*bias)[i / static_cast<std::size_t>(plane)];
    visit_taps(conv, conv.kernel, [&](std::size_t i, int o, int row, int column, int ky, int kx) {
      const int inputs_of_group = in.channels / conv.groups, group = o / (out.channels / conv.groups);
      for (int c = 0; c < inputs_of_group; ++c) {
        const int w = ((o * inputs_of_group + c) * conv.kernel.height + ky) * conv.kernel.width + kx;
        y[i] +=
            (*weight)[static_cast<std::size_t>(w)] * x()[at(in, group * inputs_of_group + c, row, column)];
      }
    });
    return y;
  }
  Doubles operator()(const model::Linear&) const {
    Doubles y = bias == nullptr ? zeros() : *bias;
    for (std::size_t o = 0; o < y.size(); ++o) {
      for (std::size_t i = 0; i < x().size(); ++i) y[o] += (*weight)[o * x().size() + i] * x()[i];
    }
    return y;
  }
  Doubles operator()(const model::Relu&) const {
    Doubles y = copy();
    for (double& value : y) value = std::max(value, 0.0);
    return y;
  }
  Doubles operator()(const model::AvgPool& pool) const {
    Doubles y = zeros();
    visit_taps(pool, pool.window, [&](std::size_t i, int c, int row, int column, int, int) {
      y[i] += x()[at(in, c, row, column)] / (pool.window.height * pool.window.width);
    });
    return y;
  }
  Doubles operator()(const model::MaxPool& pool) const {
    Doubles y(static_cast<std::size_t>(out.elements()), -1e300);
    visit_taps(pool, pool.window, [&](std::size_t i, int c, int row, int column, int, int) {
      y[i] = std::max(y[i], x()[at(in, c, row, column)]);
    });
    return y;
  }
  Doubles operator()(const model::GlobalAvgPool&) const {
    Doubles y = zeros();
    const auto area = static_cast<std::size_t>(in.area());
    for (std::size_t i = 0; i < x().size(); ++i) y[i / area] += x()[i] / static_cast<double>(area);
    return y;
  }
  Doubles operator()(const model::Flatten&) const { return copy(); }
  Doubles operator()(const model::Dropout& drops) const {
    Doubles y = copy();
    for (std::size_t i = 0; i < y.size(); ++i)
      y[i] = dropout_keeps({name, drops.p, y.size()}, draws, example, i) ? y[i] / (1 - drops.p) : 0;
    return y;
  }
  Doubles operator()(const model::Add&) const {
    Doubles y = copy();
    for (std::size_t i = 0; i < y.size(); ++i) y[i] += inputs[1][i];
    return y;
  }
};

// What a layer makes of a minibatch: the same of every example, unless it mixes examples.
struct DoubleMinibatchLayer {
  Shape in, out;
  std::vector<const Doubles*> inputs;  // [example][channel][y][x]
  WeightAndBiasInDouble parameters;
  std::string_view name;
  const Draws& draws;

  template <class Kind>
  Doubles operator()(const Kind& kind) const {
    const auto size = static_cast<std::size_t>(in.elements());
    Doubles y;
    for (std::size_t first = 0; first < inputs[0]->size(); first += size) {
      DoubleLayer layer{in, out, {}, parameters.weight, parameters.bias, name, draws, first / size};
      for (const Doubles* input : inputs) layer.inputs.push_back(std::span(*input).subspan(first, size));
      const Doubles of_example = layer(kind);
      y.insert(y.end(), of_example.begin(), of_example.end());
    }
    return y;
  }
  Doubles operator()(const model::BatchNorm& norm) const {
    Doubles y = *inputs[0];
    const auto example = static_cast<std::size_t>(in.elements());
    const std::size_t group = norm.ghost == 0 ? y.size() : static_cast<std::size_t>(norm.ghost) * example;
    for (std::size_t first = 0; first < y.size(); first += group)
      normalise(std::span(y).subspan(first, std::min(group, y.size() - first)), norm.eps);
    return y;
  }

  // values: of a group
  void normalise(std::span<double> values, double eps) const {
    const auto channels = static_cast<std::size_t>(in.channels), area = static_cast<std::size_t>(in.area());
    Doubles count(channels), mean(channels), variance(channels);
    const auto channel = [&](std::size_t i) { return i / area % channels; };
    for (std::size_t i = 0; i < values.size(); ++i) {
      count[channel(i)] += 1;
      mean[channel(i)] += values[i];
    }
    for (std::size_t c = 0; c < channels; ++c) mean[c] /= count[c];
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double deviation = values[i] - mean[channel(i)];
      variance[channel(i)] += deviation * deviation / count[channel(i)];
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t c = channel(i);
      const double normalised = (values[i] - mean[c]) / std::sqrt(variance[c] + eps);
      values[i] = normalised * (*parameters.weight)[c] + (*parameters.bias)[c];
    }
  }
};

}  // namespace

std::vector<Doubles> double_values(const model::Model& model, std::span<const Doubles> parameters,
                                   std::span<const float> images, const Draws& draws) {
  const std::vector<Shape> shapes = model::infer_shapes(model);
  const std::vector<std::vector<int>> inputs = model::inputs_of(model);
  const std::vector<model::Parameter> named = model::parameters_of(model);
  std::vector<Doubles> values{Doubles(images.begin(), images.end())};
  values.reserve(shapes.size());  // layers point to values
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    DoubleMinibatchLayer layer{
        shapes[static_cast<std::size_t>(inputs[i][0])], shapes[i + 1], {}, {}, model.layers[i].name, draws};
    for (const int value : inputs[i]) layer.inputs.push_back(&values[static_cast<std::size_t>(value)]);
    for (std::size_t p = 0; p < named.size(); ++p) {
      if (named[p].layer != static_cast<int>(i) || !named[p].trained()) continue;
      const bool is_bias = named[p].role == model::ParameterRole::bias;
      (is_bias ? layer.parameters.bias : layer.parameters.weight) = &parameters[p];
    }
    values.push_back(std::visit(layer, model.layers[i].kind));
  }
  return values;
}

double double_mean_loss(const model::Model& model, std::span<const Doubles> parameters,
                        std::span<const float> images, std::span<const std::uint8_t> labels,
                        const Draws& draws) {
  const Doubles scores = double_values(model, parameters, images, draws).back();
  const std::size_t classes = scores.size() / labels.size();
  double sum = 0;
  for (std::size_t e = 0; e < labels.size(); ++e) {
    const std::span<const double> z = std::span(scores).subspan(e * classes, classes);
    double exps = 0;
    for (const double c : z) exps += std::exp(c);
    sum += std::log(exps) - z[labels[e]];
  }
  return sum / static_cast<double>(labels.size());
}

}  // namespace lockstep::reference
