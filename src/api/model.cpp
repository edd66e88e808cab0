#include <map>

#include <fmt/format.h>
#include <lockstep/model.h>

#include "api/convert.h"
#include "api/initial_values.h"
#include "model/zoo.h"

namespace lockstep {
inline namespace api {
namespace {

model::Extent extent_inside(Extent extent) { return {extent.height, extent.width}; }
Extent extent_outside(model::Extent extent) { return {extent.height, extent.width}; }

struct NamedKind {
  const char* name;
  model::LayerKind kind;
};

struct ToInside {
  NamedKind operator()(const Conv2d& l) const {
    return {"conv", model::Conv2d{l.out_channels, extent_inside(l.kernel), extent_inside(l.stride),
                                  extent_inside(l.padding), l.groups, l.bias, to_inside(l.initial_weight),
                                  to_inside(l.initial_bias)}};
  }
  NamedKind operator()(const Linear& l) const {
    return {"linear",
            model::Linear{l.out_units, l.bias, to_inside(l.initial_weight), to_inside(l.initial_bias)}};
  }
  NamedKind operator()(const Relu&) const { return {"relu", model::Relu{}}; }
  NamedKind operator()(const AvgPool& l) const {
    return {"pool",
            model::AvgPool{extent_inside(l.window), extent_inside(l.stride), extent_inside(l.padding)}};
  }
  NamedKind operator()(const MaxPool& l) const {
    return {"pool",
            model::MaxPool{extent_inside(l.window), extent_inside(l.stride), extent_inside(l.padding)}};
  }
  NamedKind operator()(const GlobalAvgPool&) const { return {"pool", model::GlobalAvgPool{}}; }
  NamedKind operator()(const Flatten&) const { return {"flatten", model::Flatten{}}; }
  NamedKind operator()(const Add&) const { return {"add", model::Add{}}; }
  NamedKind operator()(const BatchNorm& l) const {
    return {"norm", model::BatchNorm{l.ghost, l.eps, l.momentum}};
  }
  NamedKind operator()(const Dropout& l) const { return {"dropout", model::Dropout{l.p}}; }
};

template <class Inside, class Outside>
void add_initial_values(const Inside& from, Outside& to) {
  to.initial_weight = to_public(from.initial_weight);
  to.initial_bias = to_public(from.initial_bias);
}

struct ToPublic {
  LayerKind operator()(const model::Conv2d& l) const {
    Conv2d conv{.out_channels = l.out_channels,
                .kernel = extent_outside(l.kernel),
                .stride = extent_outside(l.stride),
                .padding = extent_outside(l.padding),
                .groups = l.groups,
                .bias = l.bias};
    add_initial_values(l, conv);
    return conv;
  }
  LayerKind operator()(const model::Linear& l) const {
    LayerKind kind(std::in_place_type<Linear>);
    auto& linear = std::get<Linear>(kind);
    linear.out_units = l.out_units;
    linear.bias = l.bias;
    add_initial_values(l, linear);
    return kind;
  }
  LayerKind operator()(const model::Relu&) const { return Relu{}; }
  LayerKind operator()(const model::AvgPool& l) const {
    return AvgPool{extent_outside(l.window), extent_outside(l.stride), extent_outside(l.padding)};
  }
  LayerKind operator()(const model::MaxPool& l) const {
    return MaxPool{extent_outside(l.window), extent_outside(l.stride), extent_outside(l.padding)};
  }
  LayerKind operator()(const model::GlobalAvgPool&) const { return GlobalAvgPool{}; }
  LayerKind operator()(const model::Flatten&) const { return Flatten{}; }
  LayerKind operator()(const model::Add&) const { return Add{}; }
  LayerKind operator()(const model::BatchNorm& l) const { return BatchNorm{l.ghost, l.eps, l.momentum}; }
  LayerKind operator()(const model::Dropout& l) const { return Dropout{l.p}; }
};

}  // namespace

arithmetic::ConvolutionRule to_inside(const std::optional<Convolution>& convolution) {
  if (!convolution) return model::Model{}.convolution;
  return *convolution == Convolution::fast ? arithmetic::ConvolutionRule::fast
                                           : arithmetic::ConvolutionRule::direct;
}

model::Model to_inside(const Model& model) {
  model::Model inside{.name = model.name,
                      .input = {model.channels, model.height, model.width},
                      .layers = {},
                      .sigma = model.sigma,
                      .convolution = to_inside(model.convolution)};
  std::map<std::string, int> numbers;
  for (const Layer& layer : model.layers) {
    const NamedKind named = std::visit(ToInside{}, layer.kind);
    const int number = ++numbers[named.name];
    inside.layers.push_back({layer.name.empty() ? fmt::format("{}{}", named.name, number) : layer.name,
                             named.kind, layer.inputs});
  }
  return inside;
}

Model to_public(const model::Model& model) {
  const bool fast = model.convolution == arithmetic::ConvolutionRule::fast;
  Model outside{.name = model.name,
                .channels = model.input.channels,
                .height = model.input.height,
                .width = model.input.width,
                .layers = {},
                .sigma = model.sigma,
                .convolution = fast ? Convolution::fast : Convolution::direct};
  for (const model::Layer& layer : model.layers)
    outside.layers.push_back({layer.name, std::visit(ToPublic{}, layer.kind), layer.inputs});
  return outside;
}

Model lenet() { return to_public(model::lenet()); }

Model zoo_model(std::string_view name) { return to_public(model::zoo_model(name)); }

Model zoo_model(std::string_view name, const PictureSizes& pictures) {
  return to_public(
      model::zoo_model(name, {{pictures.channels, pictures.height, pictures.width}, pictures.classes}));
}

}  // namespace api
}  // namespace lockstep
