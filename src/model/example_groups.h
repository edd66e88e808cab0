// Layers in which the examples of a minibatch depend on each other.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "model/model.h"

namespace lockstep::model {

struct ExampleGroups {
  std::string layer;
  std::size_t examples = 0;  // of a group: consecutive ones of the minibatch; 0: all
  std::size_t values = 0;    // of an example, for each channel
};

// In model order.
std::vector<ExampleGroups> example_groups_of(const Model& model);

// Every batch norm of the model then takes its statistics over this many consecutive examples; 0: over the
// whole minibatch. Throws Error(usage) if the model has no batch norm.
void set_ghost(Model& model, int examples);

}  // namespace lockstep::model
