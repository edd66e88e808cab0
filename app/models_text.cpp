#include "models_text.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/figures.h"
#include "report/text_table.h"
#include "units.h"

namespace lockstep::app {
namespace {

using Json = nlohmann::ordered_json;
using Align = report::TextColumn::Align;

std::string millions(double number) { return fmt::format("{:.1f}", number / kMega); }

std::string pictures_text(const ModelFacts& model) {
  return fmt::format("{}, {} classes", model::to_string(model.input), model.classes);
}

Json json_of(const ModelFacts& model) {
  return {{"model", model.name},
          {"pictures", {model.input.channels, model.input.height, model.input.width}},
          {"classes", model.classes},
          {"least_side", model.least_side},
          {"parameters", model.trained},
          {"running_statistics", model.statistics},
          {"forward_flops", model.forward_flops},
          {"step_flops", model.step_flops},
          {"memory", model.memory}};
}

Json json_of(const LayerFacts& layer) {
  return {{"layer", layer.name},
          {"kind", layer.kind},
          {"gives", {layer.shape.channels, layer.shape.height, layer.shape.width}},
          {"parameters", layer.trained},
          {"forward_flops", layer.flops}};
}

}  // namespace

std::string models_table(std::span<const ModelFacts> models, const std::string& device, int batch) {
  const std::vector<report::TextColumn> columns{{"model"},
                                                {"pictures"},
                                                {"from"},
                                                {"parameters", Align::right},
                                                {"MFLOP forward", Align::right},
                                                {"MFLOP a step", Align::right},
                                                {"MB", Align::right}};
  std::vector<std::vector<std::string>> rows;
  rows.reserve(models.size());
  for (const ModelFacts& model : models)
    rows.push_back({model.name, pictures_text(model), fmt::format("{0}x{0}", model.least_side),
                    report::grouped(model.trained), millions(model.forward_flops), millions(model.step_flops),
                    fmt::format("{:.0f}", static_cast<double>(model.memory) / kMega)});
  return report::text_table(columns, rows) +
         fmt::format(
             "\nfrom: the smallest pictures that the model takes. MFLOP: of an example, forward and of a "
             "step of "
             "training.\nMB: memory of a step of {} examples on {}; `lockstep plan` has its parts.\n",
             batch, device);
}

std::string model_table(const ModelFacts& model, const std::string& device, int batch) {
  const std::vector<report::TextColumn> columns{
      {"layer"}, {"what"}, {"gives"}, {"parameters", Align::right}, {"MFLOP forward", Align::right}};
  std::vector<std::vector<std::string>> rows{{"input", "", model::to_string(model.input), "", ""}};
  for (const LayerFacts& layer : model.layers)
    rows.push_back({layer.name, layer.kind + (layer.inputs.empty() ? "" : " of " + layer.inputs),
                    model::to_string(layer.shape), layer.trained == 0 ? "" : report::grouped(layer.trained),
                    layer.flops == 0 ? "" : millions(layer.flops)});
  std::string text = report::text_table(columns, rows);
  text += fmt::format("\n{} for pictures of {}: {} parameters", model.name, pictures_text(model),
                      report::grouped(model.trained));
  if (model.statistics > 0)
    text += fmt::format(" and {} running statistics", report::grouped(model.statistics));
  text += fmt::format(
      "\n{} MFLOP an example forward, {} in a step of training\n"
      "{:.0f} MB for a step of {} examples on {}\n"
      "takes pictures of {}x{} or more\n",
      millions(model.forward_flops), millions(model.step_flops), static_cast<double>(model.memory) / kMega,
      batch, device, model.least_side, model.least_side);
  return text;
}

std::string models_json(std::span<const ModelFacts> models) {
  Json all = Json::array();
  for (const ModelFacts& model : models) {
    all.push_back(json_of(model));
    if (models.size() > 1) continue;
    for (const LayerFacts& layer : model.layers) all.back()["layers"].push_back(json_of(layer));
  }
  return all.dump() + '\n';
}

}  // namespace lockstep::app
