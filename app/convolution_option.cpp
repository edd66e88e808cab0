#include "convolution_option.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "arithmetic/convolution_rule.h"
#include "model/model.h"
#include "numbers.h"

namespace lockstep::app {

CLI::Option* add_convolution(CLI::App& parser, std::optional<arithmetic::ConvolutionRule>& rule) {
  constexpr const char* kName = "--convolution";
  return parser
      .add_option_function<std::string>(
          kName,
          [&rule](const std::string& text) {
            rule = arithmetic::convolution_rule_named(
                known_name(kName, text, arithmetic::convolution_rule_names()));
          },
          fmt::format("fast: Winograd's algorithm in the layers where it pays; direct: in none (default {})",
                      arithmetic::name_of(model::Model{}.convolution)))
      ->type_name("NAME");
}

}  // namespace lockstep::app
