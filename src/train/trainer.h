// The training loop: shuffled minibatches, SGD, evaluation after each epoch. Tells observers, prints nothing.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "train/evaluate.h"
#include "train/job.h"
#include "train/observer.h"
#include "train/training_runner.h"

namespace lockstep::train {

// Where a training stands between two steps: enough to go on with the same bits, on any devices.
struct TrainState {
  run::State tensors = {};         // parameters, and what the update rule keeps for them
  std::int64_t step = 0;           // steps done since the start of training
  int epoch = 1;                   // the epoch it stands in
  std::int64_t step_in_epoch = 0;  // steps of it that are done
  double loss_sum = 0;             // over the examples of these steps
  double seconds = 0;              // spent on these steps
  std::vector<EpochReport> epochs = {};
};

struct TrainOptions {
  Machine machine = {};
  std::optional<Weights> start = {};                  // instead of the seed's
  std::optional<TrainState> resume = {};              // instead of the start
  std::function<bool()> stop = [] { return false; };  // asked at every step boundary
  std::int64_t checkpoint_every = 0;                  // steps; 0: every epoch
};

// Who is told how it goes.
struct Listeners {
  std::vector<Observer*> observers = {};
  // Called before the first step, after every `checkpoint_every` steps or every epoch, and at the end.
  std::function<void(const TrainState&)> checkpoint = nullptr;
};

struct TrainResult {
  Weights weights;
  std::vector<EpochReport> epochs;  // finished ones
  bool interrupted = false;
  std::vector<run::DeviceTrace> traces;  // if asked for
  std::vector<DeviceUse> use;            // by device
};

// A training that is ready to begin: devices that differ have been measured, all memory is there. Throws
// Error(device), naming need and have, if it is not. What it is made of outlives it.
class Training {
 public:
  Training(const Job& job, const data::Split& data, run::Crew& crew, TrainOptions options = {});
  ~Training();

  // Once. Throws Error(diverged) naming step, layer and example when the loss or a gradient is not finite, or
  // step and tensor when an update overflowed. Throws Error(verification) naming step, tensor and devices
  // when replicas part: after every step a part of them is compared, all before a checkpoint, after an epoch
  // and at the end.
  TrainResult run(const Listeners& listeners = {});

  // As they are now. Also for observers, between two steps.
  Weights weights() const;

 private:
  class Loop;
  const std::unique_ptr<Loop> loop_;
};

TrainResult train(const Job& job, const data::Split& data, run::Crew& crew, const TrainOptions& options = {},
                  const Listeners& listeners = {});

// On one device.
TrainResult train(const Job& job, const data::Split& data, device::Device& device,
                  const TrainOptions& options = {}, const Listeners& listeners = {});

}  // namespace lockstep::train
