#include "size_option.h"

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "numbers.h"

namespace lockstep::app {
namespace {

constexpr const char* kSize = "--size";
constexpr WholeRange kExtent{1, 16'384};  // three of them multiply without overflow

}  // namespace

model::Shape picture_shape(std::string_view text) {
  const std::size_t first = text.find('x'), second = text.find('x', first + 1);
  if (first == std::string_view::npos || second == std::string_view::npos)
    throw Error(Fault::usage, "{}: expected channels, height and width as in 3x32x32, found '{}'", kSize,
                text);
  return {whole_number(kSize, text.substr(0, first), kExtent),
          whole_number(kSize, text.substr(first + 1, second - first - 1), kExtent),
          whole_number(kSize, text.substr(second + 1), kExtent)};
}

CLI::Option* add_size(CLI::App& parser, std::optional<model::Shape>& shape) {
  return parser
      .add_option_function<std::string>(
          kSize, [&shape](const std::string& text) { shape = picture_shape(text); },
          "Channels, height and width of the pictures (default: the usual ones of the model)")
      ->type_name("CxHxW");
}

model::Model sized_model(std::string_view name, const std::optional<model::Shape>& shape) {
  return shape ? model::zoo_model(name, {*shape}) : model::zoo_model(name);
}

}  // namespace lockstep::app
