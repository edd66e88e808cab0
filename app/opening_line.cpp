#include "opening_line.h"

#include <fmt/format.h>

#include "batch_norm_option.h"
#include "data/class_names.h"
#include "device/device_list.h"
#include "model/example_groups.h"
#include "report/figures.h"

namespace lockstep::app {
namespace {

std::string counted(std::int64_t count, std::string_view what) {
  return fmt::format("{} {}{}", report::grouped(count), what, count == 1 ? "" : "s");
}

std::int64_t parameters_in(const model::Model& model) {
  std::size_t elements = 0;
  for (const model::Parameter& parameter : model::parameters_of(model))
    if (parameter.trained()) elements += parameter.elements();
  return static_cast<std::int64_t>(elements);
}

// ", 1 thread each on 2 cores"; nothing where threads are not what computes.
std::string threads_text(const OpeningFacts& facts) {
  if (facts.threads == 0) return {};
  const int devices = static_cast<int>(facts.devices.size());
  std::string text = ", " + counted(facts.threads, "thread");
  if (devices > 1) text += " each";
  if (devices * facts.threads > facts.cores) text += " on " + counted(facts.cores, "core");
  return text;
}

std::string groups_text(const model::Model& model) {
  const std::vector<model::ExampleGroups> groups = model::example_groups_of(model);
  if (groups.empty()) return {};
  return ", batch norm " + batch_norm_text(static_cast<int>(groups.front().examples));
}

}  // namespace

std::string model_and_data(const OpeningFacts& facts) {
  const std::string data = data::is_fashion_mnist(facts.data) ? "Fashion-MNIST" : facts.data_directory;
  return fmt::format("{} ({}) on {} ({}, {} to test)", facts.model.name,
                     counted(parameters_in(facts.model), "parameter"), data,
                     counted(static_cast<std::int64_t>(facts.data.train.size()), "example"),
                     report::grouped(static_cast<std::int64_t>(facts.data.test.size())));
}

std::string opening_line(const OpeningFacts& facts) {
  return fmt::format("training {} with {}{}{}\n", model_and_data(facts), device::to_text(facts.devices),
                     threads_text(facts), groups_text(facts.model));
}

}  // namespace lockstep::app
