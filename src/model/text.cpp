#include "model/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lockstep::model {

std::string text_of(const Model& model) {
  const std::vector<std::vector<int>> inputs = inputs_of(model);
  std::string text = fmt::format("input {}, usual weights normal {}\n", to_string(model.input), model.sigma);
  for (std::size_t i = 0; i < model.layers.size(); ++i)
    text += fmt::format("{} of {}: {}\n", model.layers[i].name, fmt::join(inputs[i], ", "),
                        text_of(model.layers[i].kind));
  return text;
}

std::string text_of(const LayerKind& kind) {
  return std::visit([](const auto& layer) { return layer.words(); }, kind);
}

}  // namespace lockstep::model
