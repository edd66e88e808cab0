#include "bench_options.h"

#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lists.h"

namespace lockstep::app {

void add_seconds(CLI::App& parser, double& seconds, std::string_view what) {
  parser
      .add_option_function<std::string>(
          "--seconds", [&seconds](const std::string& text) { seconds = positive_number("--seconds", text); },
          fmt::format("How long to measure {} (default {})", what, seconds))
      ->type_name("S");
}

void add_device_counts(CLI::App& parser, std::vector<int>& devices, WholeRange range) {
  const auto number = [range](std::string_view part) { return whole_number("--devices", part, range); };
  parser
      .add_option_function<std::string>(
          "--devices", [&devices, number](const std::string& text) { devices = list_of(text, number); },
          fmt::format("Numbers of devices of one thread (default {})", fmt::join(devices, ",")))
      ->type_name("LIST");
}

void add_json(CLI::App& parser, bool& json) {
  parser.add_flag("--json", json, "Print one JSON object instead of tables");
}

}  // namespace lockstep::app
