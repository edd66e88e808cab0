#include "evaluation_text.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/figures.h"

namespace lockstep::app {
namespace {

using Json = nlohmann::ordered_json;

double accuracy_of(const train::Evaluation& evaluation, std::size_t c) {
  return static_cast<double>(evaluation.right[c]) / static_cast<double>(evaluation.seen[c]);  // 0/0 is NaN
}

}  // namespace

std::string evaluation_table(const train::Evaluation& evaluation, std::span<const std::string> names) {
  std::string text =
      fmt::format("accuracy  {:.4f}\nloss      {:.4f}\nexamples  {}\n\n", evaluation.accuracy(),
                  evaluation.loss, report::grouped(evaluation.examples()));
  std::size_t widest = 5;  // "class"
  for (const std::string& name : names) widest = std::max(widest, name.size());
  text += fmt::format("{:<{}}  accuracy  examples\n", "class", widest);
  for (std::size_t c = 0; c < names.size(); ++c) {
    const std::string accuracy =
        evaluation.seen[c] == 0 ? "-" : fmt::format("{:.4f}", accuracy_of(evaluation, c));
    text += fmt::format("{:<{}}  {:>8}  {:>8}\n", names[c], widest, accuracy,
                        report::grouped(evaluation.seen[c]));
  }
  return text;
}

std::string evaluation_json(const train::Evaluation& evaluation, std::span<const std::string> names,
                            const std::string& weights_hash) {
  Json classes = Json::array();
  for (std::size_t c = 0; c < names.size(); ++c)
    classes.push_back(
        {{"name", names[c]}, {"accuracy", accuracy_of(evaluation, c)}, {"examples", evaluation.seen[c]}});
  const Json json{{"accuracy", evaluation.accuracy()},
                  {"loss", Json::parse(report::json_number(evaluation.loss))},
                  {"examples", evaluation.examples()},
                  {"classes", std::move(classes)},
                  {"weights", weights_hash}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';  // a name may be in any encoding
}

}  // namespace lockstep::app
