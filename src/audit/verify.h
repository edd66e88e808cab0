// The same job under several settings: the parameters must have equal bits after every step, on every device,
// and so must the whole state after the last step.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "audit/element.h"
#include "base/hash.h"
#include "train/stepper.h"

namespace lockstep::audit {

using MakeCrew =
    std::function<std::unique_ptr<run::Crew>(const std::vector<std::string>& devices, int threads)>;

struct Setting {
  std::vector<std::string> devices = {"cpu:0"};
  int threads = 1;  // of each
  train::Machine machine = {};
};

// The first place where a replica or the state is not what the first device of the first setting has.
struct ReplicaDifference {
  std::int64_t step = 0;
  int device = 0;  // of the setting
  std::string device_name;
  ElementDifference element;
};

struct SettingResult {
  Setting setting;
  // By step, then by tensor: what the first device has, up to a difference.
  std::vector<std::vector<Hash128>> hashes;
  Hash128 weights;  // of all parameters: of the first device after the last step, or of the one that differs
  double seconds = 0;
  std::optional<ReplicaDifference> difference;
};

struct VerifyOptions {
  train::Job job;
  const data::Dataset& data;
  std::vector<Setting> settings;
  std::int64_t steps = 50;
  MakeCrew make_crew;
  std::function<void(const SettingResult&)> on_setting = nullptr;  // as each is done
};

// Every setting runs to the end or to its first difference; after a difference inside the first setting there
// is nothing to hold the others against, and they end there, too.
std::vector<SettingResult> verify(const VerifyOptions& options);

}  // namespace lockstep::audit
