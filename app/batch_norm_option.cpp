#include "batch_norm_option.h"

#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "arithmetic/pack.h"
#include "base/error.h"
#include "model/example_groups.h"
#include "numbers.h"

namespace lockstep::app {
namespace {

constexpr const char* kBatchNorm = "--batch-norm";
constexpr std::string_view kGhost = "ghost:";

}  // namespace

BatchNormForm batch_norm_form(const std::string& text) {
  if (text.starts_with(kGhost)) {
    const std::string_view digits = std::string_view(text).substr(kGhost.size());
    const int ghost = whole_number("--batch-norm ghost", digits, {arithmetic::kPack, 1'000'000});
    if (ghost % arithmetic::kPack != 0)
      throw Error(Fault::usage, "--batch-norm ghost: expected a multiple of {} examples, found '{}'",
                  arithmetic::kPack, digits);
    return {BatchNormForm::Kind::ghost, ghost};
  }
  const std::vector<std::string> names{"sync", "ghost:N", "device"};
  return {known_name(kBatchNorm, text, names) == "sync" ? BatchNormForm::Kind::sync
                                                        : BatchNormForm::Kind::device};
}

CLI::Option* add_batch_norm(CLI::App& parser, std::optional<BatchNormForm>& form) {
  return parser
      .add_option_function<std::string>(
          kBatchNorm, [&form](const std::string& text) { form = batch_norm_form(text); },
          "Statistics of a batch norm: sync, of the minibatch (default); ghost:N, of N examples in a row;\n"
          "device, of as many as a device has")
      ->type_name("FORM");
}

int ghost_of(const BatchNormForm& form, const model::Model& model, const DividedBatch& batch) {
  if (model::example_groups_of(model).empty())
    throw Error(Fault::usage, "--batch-norm: model {} has no batch norm; leave it out", model.name);
  switch (form.kind) {
    case BatchNormForm::Kind::sync:
      return 0;
    case BatchNormForm::Kind::ghost:
      return form.ghost;
    case BatchNormForm::Kind::device:
      break;
  }
  const auto devices = static_cast<int>(batch.devices);
  const int part = batch.examples / devices + (batch.examples % devices == 0 ? 0 : 1);
  const int ghost = arithmetic::pack_count(part) * arithmetic::kPack;
  return ghost < batch.examples ? ghost : 0;
}

std::string batch_norm_text(int ghost) { return ghost == 0 ? "sync" : fmt::format("{}{}", kGhost, ghost); }

}  // namespace lockstep::app
