// What the user asked of `lockstep train`, and the job that makes of it: flags over a config file over
// defaults.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "store/config_file.h"

namespace CLI {
class App;
}

namespace lockstep::app {

struct TrainFlags {
  std::optional<std::string> model, order, convolution;
  std::optional<int> batch, epochs, threads;
  std::optional<float> learning_rate;
  std::optional<std::uint64_t> seed;
  std::optional<std::filesystem::path> data, out, load, config;
  bool print_program = false;
  bool json = false;
};

// Parsing fills `flags`; a value beyond its limits is Error(usage) then. Requires: `flags` outlives `parser`.
void add_flags(CLI::App& parser, TrainFlags& flags);

// Every value known but the hashes of data and starting weights, which are those the config file expects,
// empty without one. Throws Error(usage) naming file and key for what this program cannot do.
store::RunConfig resolve(const TrainFlags& flags);

}  // namespace lockstep::app
