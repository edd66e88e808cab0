// One step of LeNet's training on a device of its own, ready to be run again and again.
#pragma once
#include <memory>

#include "device/device.h"
#include "measure/synthetic_minibatch.h"
#include "run/runner.h"

namespace lockstep::measure {

class TrainingStep {
 public:
  // Requires: minibatch outlives it and fits LeNet.
  TrainingStep(std::unique_ptr<device::Device> device, const SyntheticMinibatch& minibatch);

  void run();

  double flops() const { return flops_; }  // of one run

 private:
  const SyntheticMinibatch& minibatch_;
  const std::unique_ptr<device::Device> device_;
  run::Runner runner_;
  const double flops_;
};

}  // namespace lockstep::measure
