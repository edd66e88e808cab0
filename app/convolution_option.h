// --convolution NAME, for every command that computes with a model.
#pragma once
#include <optional>

#include "arithmetic/algorithm.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace lockstep::app {

// Adds the option; a name that is none is Error(usage) with the nearest. Requires: `rule` outlives `parser`.
CLI::Option* add_convolution(CLI::App& parser, std::optional<arithmetic::ConvolutionRule>& rule);

}  // namespace lockstep::app
