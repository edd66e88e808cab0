// A model in words, to be compared and hashed: everything that the bits of a training depend on.
#pragma once
#include <string>

#include "model/model.h"

namespace lockstep::model {

// A line a layer. Equal for two models if they differ in nothing but their name and the rule for
// convolutions.
std::string text_of(const Model& model);

}  // namespace lockstep::model
