// The training loop: shuffled minibatches, SGD, evaluation after each epoch. Tells observers, prints nothing.
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "train/evaluate.h"
#include "train/job.h"
#include "train/observer.h"

namespace lockstep::train {

struct TrainOptions {
  device::Order order = device::Order::pack;
  std::optional<Weights> start = {};                  // instead of the seed's
  std::function<bool()> stop = [] { return false; };  // asked at every step boundary
  std::vector<Observer*> observers = {};
};

struct TrainResult {
  Weights weights;
  std::vector<EpochReport> epochs;  // finished ones
  bool interrupted = false;
};

// Throws Error(diverged) naming step, layer and example when the loss or a gradient is not finite.
TrainResult train(const Job& job, const data::Split& data, device::Device& device,
                  const TrainOptions& options = {});

}  // namespace lockstep::train
