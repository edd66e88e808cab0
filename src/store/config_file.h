// config.toml: what a run was asked to do. [job] is what its bits depend on, [machine] is what they do not.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "arithmetic/algorithm.h"
#include "arithmetic/optimizer.h"
#include "arithmetic/schedule.h"
#include "base/hash.h"
#include "store/data_sizes.h"

namespace lockstep::store {

struct JobConfig {
  std::string model = "lenet";
  std::string layers = {};    // hash of a model that is not Lockstep's own, 32 hex digits; else empty
  std::string data = {};      // hash of the data's bytes, 32 hex digits; empty until it is known
  DataSizes data_sizes = {};  // not known in the configs of older versions
  std::uint64_t seed = 0;
  int batch = 256;
  float lr = 0.2f;
  arithmetic::Optimizer optimizer = {};
  arithmetic::Schedule schedule = {};
  int epochs = 10;
  arithmetic::ConvolutionRule convolution = arithmetic::kUsualConvolution;
  int ghost = 0;  // examples that share a batch norm's statistics, whole packs; 0: the whole minibatch
  int law = 1;
  std::string load = {};  // hash of the starting weights, 32 hex digits; empty if there are none

  bool operator==(const JobConfig&) const = default;
};

struct MachineConfig {
  std::vector<std::string> devices = {"cpu:0"};
  std::vector<double> shares = {};   // of the packs, one a device, above 0; empty: see train/calibrate.h
  int threads = 0;                   // of one CPU device; 0 for all cores
  std::string exchange = "sharded";  // or "star"
  bool shard_optimizer = false;
  double timeout = 60;  // seconds, above 0
  std::string order = "pack";
  std::string data_directory = {};

  bool operator==(const MachineConfig&) const = default;
};

struct RunConfig {
  JobConfig job = {};
  MachineConfig machine = {};

  bool operator==(const RunConfig&) const = default;
};

// The keys are always in the same order; equal configs give equal text and parse_config() gives the config
// back. Of optimizer and schedule only what says more than the keys lr and momentum has a key, and a ghost
// only if it is not 0: the text of a job of plain SGD, with or without momentum, is that of older versions.
// Requires: strings are UTF-8.
std::string to_toml(const RunConfig& config);

// Keys that are not there keep their defaults, but for job.convolution, which is direct then; those of the
// update depend on the optimizer. `file` is what errors call the text. Throws Error(usage) with line, key,
// what was expected and the nearest known name: unknown sections and keys, wrong types, numbers out of range.
RunConfig parse_config(std::string_view text, std::string_view file);

// Over the text of [job] alone: runs of equal job hash give equal bits.
Hash128 job_hash(const RunConfig& config);

}  // namespace lockstep::store
