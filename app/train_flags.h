// What the user asked of `lockstep train`, and the job that makes of it: flags over a config file over
// defaults.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "batch_norm_option.h"
#include "devices.h"
#include "drill.h"
#include "store/config_file.h"
#include "update_options.h"

namespace CLI {
class App;
}

namespace lockstep::app {

struct TrainFlags {
  std::optional<std::string> model, order, exchange, devices;
  std::optional<arithmetic::ConvolutionRule> convolution;
  std::optional<BatchNormForm> batch_norm;
  std::optional<std::vector<double>> shares;
  std::optional<int> batch, epochs, threads, checkpoint_every;
  std::optional<float> learning_rate;
  UpdateFlags update;
  std::optional<double> timeout;
  std::optional<std::uint64_t> seed;
  std::optional<std::filesystem::path> data, out, load, config, resume, trace;
  bool scale_batch = false, scale_lr = false;  // by the number of devices
  bool shard_optimizer = false, record = true, bind = true;
  std::optional<DeviceDrill> drill;
  bool print_program = false;
  std::optional<int> rank = {};  // whose program is printed
  bool json = false;
};

// Parsing fills `flags`; a value beyond its limits is Error(usage) then. Requires: `flags` and
// `devices` outlive `parser`. add_step_flags() adds those that say what a step computes, and on which
// devices; add_flags() adds these and all others.
void add_step_flags(CLI::App& parser, TrainFlags& flags, Devices& devices);
void add_flags(CLI::App& parser, TrainFlags& flags, Devices& devices);

// What a config file or checkpoint may say and this program cannot do is Error(usage) naming `file` and key.
// Its devices become names.
void check_config(store::RunConfig& config, const std::string& file, Devices& devices);

// What the flags say of the machine, over what is there.
void replace_machine(store::MachineConfig& machine, const TrainFlags& flags, Devices& devices);

// The flags that say what the bits depend on, by their names, as far as they were given, and those that make
// a new run; not --epochs, which may change when a run is taken up again, nor MODEL, --convolution and
// --batch-norm, which may be said again.
std::vector<std::string> job_flags(const TrainFlags& flags);

// Every value known but the hashes of data and starting weights, which are those the config file expects,
// empty without one. Throws Error(usage) naming file and key for what this program cannot do.
store::RunConfig resolve(const TrainFlags& flags, Devices& devices);

}  // namespace lockstep::app
