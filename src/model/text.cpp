#include "model/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lockstep::model {
namespace {

struct InitialWords {
  std::string operator()(const Normal& normal) const { return fmt::format("normal {}", normal.sigma); }
  std::string operator()(const KaimingUniform&) const { return "kaiming"; }
  std::string operator()(const XavierUniform&) const { return "xavier"; }
  std::string operator()(const Constant& constant) const {
    return fmt::format("constant {}", constant.value);
  }
};

// Of a convolution or a linear layer.
template <class Kind>
std::string parameter_words(const Kind& layer) {
  const auto words = [](const std::optional<InitialValues>& values) {
    return values ? std::visit(InitialWords{}, *values) : "usual";
  };
  const std::string weight = fmt::format("weight {}", words(layer.initial_weight));
  return weight + (layer.bias ? fmt::format(", bias {}", words(layer.initial_bias)) : ", no bias");
}

template <class Pool>
std::string pool_words(std::string_view kind, const Pool& pool) {
  return fmt::format("{} pool {}, stride {}, padding {}", kind, to_string(pool.window),
                     to_string(pool.stride), to_string(pool.padding));
}

struct KindWords {
  std::string operator()(const Conv2d& conv) const {
    return fmt::format("convolution {} of {}, stride {}, padding {}, {}{}", conv.out_channels,
                       to_string(conv.kernel), to_string(conv.stride), to_string(conv.padding),
                       conv.groups == 1 ? "" : fmt::format("{} groups, ", conv.groups),
                       parameter_words(conv));
  }
  std::string operator()(const Linear& linear) const {
    return fmt::format("linear {}, {}", linear.out_units, parameter_words(linear));
  }
  std::string operator()(const Relu&) const { return "relu"; }
  std::string operator()(const AvgPool& pool) const { return pool_words("average", pool); }
  std::string operator()(const MaxPool& pool) const { return pool_words("maximum", pool); }
  std::string operator()(const GlobalAvgPool&) const { return "global average pool"; }
  std::string operator()(const Flatten&) const { return "flatten"; }
  std::string operator()(const Add&) const { return "add"; }
  std::string operator()(const BatchNorm& norm) const {
    return fmt::format("batch norm, ghost {}, eps {}, momentum {}", norm.ghost, norm.eps, norm.momentum);
  }
  std::string operator()(const Dropout& dropout) const { return fmt::format("dropout {}", dropout.p); }
};

}  // namespace

std::string text_of(const Model& model) {
  const std::vector<std::vector<int>> inputs = inputs_of(model);
  std::string text = fmt::format("input {}, usual weights normal {}\n", to_string(model.input), model.sigma);
  for (std::size_t i = 0; i < model.layers.size(); ++i)
    text += fmt::format("{} of {}: {}\n", model.layers[i].name, fmt::join(inputs[i], ", "),
                        text_of(model.layers[i].kind));
  return text;
}

std::string text_of(const LayerKind& kind) { return std::visit(KindWords{}, kind); }

}  // namespace lockstep::model
