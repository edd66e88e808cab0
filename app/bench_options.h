// Options that several benches have. Each says its default, which is what the value holds when it is added.
// Requires: the value outlives the parser.
#pragma once
#include <string_view>
#include <vector>

#include "numbers.h"

namespace CLI {
class App;
}  // namespace CLI

namespace lockstep::app {

// --seconds S. what: measured for so long, "each size".
void add_seconds(CLI::App& parser, double& seconds, std::string_view what);

// --devices LIST: numbers of devices of one thread.
void add_device_counts(CLI::App& parser, std::vector<int>& devices, WholeRange range);

void add_json(CLI::App& parser, bool& json);

}  // namespace lockstep::app
