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
  std::string model;
  int epochs = 0;
  std::int64_t steps_per_epoch = 0;
  std::int64_t examples_per_epoch = 0;
  std::vector<std::string> devices;    // cpu:0
  std::vector<EpochReport> done = {};  // epochs of a training that is taken up again
};

struct StepReport {
  int epoch = 0;                               // from 1
  std::int64_t step = 0;                       // in the epoch, from 1
  std::int64_t global_step = 0;                // since the start of training, from 1
  std::int64_t examples = 0;                   // of this minibatch
  float loss = 0;                              // mean over the minibatch
  double seconds = 0;                          // of this step
  std::vector<run::DeviceTimes> devices = {};  // where each device's time went
  std::vector<Hash128> hashes = {};            // of the parameters after the step, if they are recorded
};

struct RunEnd {
  std::vector<EpochReport> epochs;
  std::vector<std::string> devices;
  std::string weights_hash;   // 32 hex digits
  std::string run_directory;  // empty if nothing was kept
  bool interrupted = false;
};

class Observer {
 public:
  virtual ~Observer() = default;
  virtual void on_start(const RunStart&) {}
  virtual void on_step(const StepReport&) {}
  virtual void on_epoch(const EpochReport&) {}
  virtual void on_end(const RunEnd&) {}
};

}  // namespace lockstep::train
