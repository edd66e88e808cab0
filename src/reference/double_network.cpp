#include "reference/double_network.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <variant>

namespace lockstep::reference {
namespace {

using model::Shape;

struct DoubleLayer {
  Shape in, out;
  std::vector<const Doubles*> inputs;
  const Doubles* weight;
  const Doubles* bias;

  const Doubles& x() const { return *inputs[0]; }

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
    Doubles y = x();
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
  Doubles operator()(const model::Flatten&) const { return x(); }
  Doubles operator()(const model::Add&) const {
    Doubles y = x();
    for (std::size_t i = 0; i < y.size(); ++i) y[i] += (*inputs[1])[i];
    return y;
  }
};

}  // namespace

std::vector<Doubles> double_values(const model::Model& model, std::span<const Doubles> parameters,
                                   std::span<const float> image) {
  const std::vector<Shape> shapes = model::infer_shapes(model);
  const std::vector<std::vector<int>> inputs = model::inputs_of(model);
  const std::vector<model::Parameter> named = model::parameters_of(model);
  std::vector<Doubles> values{Doubles(image.begin(), image.end())};
  values.reserve(shapes.size());  // layers point to values
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    DoubleLayer layer{shapes[static_cast<std::size_t>(inputs[i][0])], shapes[i + 1], {}, nullptr, nullptr};
    for (const int value : inputs[i]) layer.inputs.push_back(&values[static_cast<std::size_t>(value)]);
    for (std::size_t p = 0; p < named.size(); ++p) {
      if (named[p].layer != static_cast<int>(i)) continue;
      (named[p].role == model::Parameter::Role::weight ? layer.weight : layer.bias) = &parameters[p];
    }
    values.push_back(std::visit(layer, model.layers[i].kind));
  }
  return values;
}

double double_mean_loss(const model::Model& model, std::span<const Doubles> parameters,
                        std::span<const float> images, std::span<const std::uint8_t> labels) {
  const auto pixels = static_cast<std::size_t>(model.input.elements());
  double sum = 0;
  for (std::size_t e = 0; e < labels.size(); ++e) {
    const Doubles z = double_values(model, parameters, images.subspan(e * pixels, pixels)).back();
    double exps = 0;
    for (const double c : z) exps += std::exp(c);
    sum += std::log(exps) - z[labels[e]];
  }
  return sum / static_cast<double>(labels.size());
}

}  // namespace lockstep::reference
