// --size CxHxW: for which pictures a model is made where no data says it.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "model/zoo.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace lockstep::app {

// "3x32x32": channels, height and width. Throws Error(usage).
model::Shape picture_shape(std::string_view text);

// Adds the option. Requires: `shape` outlives the parser.
CLI::Option* add_size(CLI::App& parser, std::optional<model::Shape>& shape);

// A model of the zoo for 10 classes of pictures of this shape; without one, for its usual pictures.
// Throws Error(usage).
model::Model sized_model(std::string_view name, const std::optional<model::Shape>& shape);

}  // namespace lockstep::app
