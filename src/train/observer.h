// What a training run tells those who watch it. The loop calls; observers show, store or draw.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/hash.h"
#include "run/step_clock.h"
#include "store/finished_epoch.h"

namespace lockstep::train {

using EpochReport = store::FinishedEpoch;

struct RunStart {
  std::string model = {};
  int epochs = 0;
  std::int64_t steps_per_epoch = 0;
  std::int64_t examples_per_epoch = 0;
  std::vector<std::string> devices = {};  // cpu:0
  std::vector<EpochReport> done = {};     // epochs of a training that is taken up again

  // Packs of a minibatch for each device, if they are not simply equal, and whether they were measured.
  std::vector<int> packs = {};
  bool calibrated = false;
};

struct StepReport {
  int epoch = 0;                               // from 1
  std::int64_t step = 0;                       // in the epoch, from 1
  std::int64_t global_step = 0;                // since the start of training, from 1
  std::int64_t examples = 0;                   // of this minibatch
  float loss = 0;                              // mean over the minibatch
  float learning_rate = 0;                     // by the schedule
  double seconds = 0;                          // of this step
  std::vector<run::DeviceTimes> devices = {};  // where each device's time went
  std::vector<int> packs = {};                 // that each device computed
  std::vector<Hash128> hashes = {};            // of the parameters after the step, if they are recorded
};

// What a device did in all steps of a run, since it was started or taken up again.
struct DeviceUse {
  std::int64_t packs = 0;
  run::DeviceTimes times = {};
};

struct RunEnd {
  std::vector<EpochReport> epochs = {};
  std::vector<std::string> devices = {};
  std::vector<DeviceUse> use = {};  // by device
  std::string weights_hash = {};    // 32 hex digits
  std::string run_directory = {};   // empty if nothing was kept
  bool interrupted = false;
};

class Observer {
 public:
  virtual ~Observer() = default;
  virtual void on_start(const RunStart&) {}
  virtual void on_step(const StepReport&) {}
  virtual void on_epoch(const EpochReport&) {}
  virtual void on_warning(const std::string&) {}  // one line: what looks wrong, and what to try
  virtual void on_end(const RunEnd&) {}
};

}  // namespace lockstep::train
