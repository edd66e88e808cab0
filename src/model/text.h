// A model in words, to be compared and hashed: everything that the bits of a training depend on.
#pragma once
#include <string>

#include "model/model.h"

namespace lockstep::model {

// One line for each layer. The name of the model and its rule for convolutions are left out.
std::string text_of(const Model& model);

// What a layer does, without its name and inputs: "relu".
std::string text_of(const LayerKind& kind);

}  // namespace lockstep::model
