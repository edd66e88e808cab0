#include <map>
#include <type_traits>

#include <fmt/format.h>
#include <lockstep/model.h>

#include "api/convert.h"
#include "api/initial_values.h"
#include "api/same_members.h"
#include "model/zoo.h"

namespace lockstep {
inline namespace api {
namespace {

// Between members of the public layers and members of the rooms' layers. Numbers are what they are.
struct ConvertMember {
  model::Extent operator()(const Extent& extent) const { return {extent.height, extent.width}; }
  Extent operator()(const model::Extent& extent) const { return {extent.height, extent.width}; }
  auto operator()(const std::optional<InitialValues>& values) const { return to_inside(values); }
  auto operator()(const std::optional<model::InitialValues>& values) const { return to_public(values); }
  template <class Number>
    requires std::is_arithmetic_v<Number>
  Number operator()(const Number& number) const {
    return number;
  }
};

// Both lists of kinds are in the same order: the i-th kind of one is the i-th of the other.
template <class To, std::size_t kKind = 0, class From>
To same_kind(const From& from) {
  static_assert(std::variant_size_v<To> == std::variant_size_v<From>, "both have the same kinds of layers");
  if constexpr (kKind + 1 < std::variant_size_v<From>) {
    if (from.index() != kKind) return same_kind<To, kKind + 1>(from);
  }
  return with_members_of<std::variant_alternative_t<kKind, To>>(std::get<kKind>(from), ConvertMember{});
}

// What layers of its kind are called by.
std::string_view name_of(const model::LayerKind& kind) {
  return std::visit([]<class Kind>(const Kind&) { return Kind::kName; }, kind);
}

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
  std::map<std::string_view, int> numbers;
  inside.layers.reserve(model.layers.size());
  for (const Layer& layer : model.layers) {
    const auto kind = same_kind<model::LayerKind>(layer.kind);
    const std::string_view name = name_of(kind);
    const int number = ++numbers[name];
    inside.layers.push_back(
        {layer.name.empty() ? fmt::format("{}{}", name, number) : layer.name, kind, layer.inputs});
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
    outside.layers.push_back({layer.name, same_kind<LayerKind>(layer.kind), layer.inputs});
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
