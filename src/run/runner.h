// Runs a program step by step on its device. It executes the list and nothing else.
#pragma once
#include <memory>
#include <vector>

#include "device/device.h"
#include "program/program.h"

namespace lockstep::run {

// Numbers of all parameters, in model order, each in canonical order.
using Weights = std::vector<std::vector<float>>;

struct StepResult {
  bool finite = true;                     // else a Check stopped the step before anything was updated
  float loss = 0;                         // mean over the minibatch
  std::vector<std::int64_t> seen, right;  // by class
};

class Runner {
 public:
  // Requires: device outlives the runner.
  Runner(device::Device& device, program::Program program, const device::LoadOptions& options);

  void upload(const Weights& weights);
  Weights download() const;

  StepResult step(const device::StepInput& input);

  const program::Program& program() const { return program_; }
  device::Executable& executable() { return *executable_; }

 private:
  const program::Program program_;
  const std::unique_ptr<device::Executable> executable_;
};

}  // namespace lockstep::run
