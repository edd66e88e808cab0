// --batch-norm FORM, for every command that trains a model: which examples share a batch norm's statistics.
#pragma once
#include <cstddef>
#include <optional>
#include <string>

#include "model/model.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace lockstep::app {

struct BatchNormForm {
  enum class Kind {
    sync,    // the whole minibatch
    ghost,   // so many consecutive examples
    device,  // as many as one device of the run computes
  };
  Kind kind = Kind::sync;
  int ghost = 0;  // of Kind::ghost: examples, whole packs
};

// "sync", "ghost:48" or "device"; anything else is Error(usage).
BatchNormForm batch_norm_form(const std::string& text);

// Adds the option. Requires: `form` outlives `parser`.
CLI::Option* add_batch_norm(CLI::App& parser, std::optional<BatchNormForm>& form);

// The minibatch that a form is for, and among how many devices it is divided.
struct DividedBatch {
  int examples = 0;
  std::size_t devices = 1;
};

// The examples that share statistics, 0 for the whole minibatch. A device's part is rounded up to whole
// packs. Throws Error(usage) if the model has no batch norm.
int ghost_of(const BatchNormForm& form, const model::Model& model, const DividedBatch& batch);

// "sync" or "ghost:48".
std::string batch_norm_text(int ghost);

}  // namespace lockstep::app
