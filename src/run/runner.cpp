#include "run/runner.h"

#include "base/error.h"

namespace lockstep::run {

Runner::Runner(device::Device& device, program::Program program, const device::LoadOptions& options)
    : program_(std::move(program)), executable_(device.load(program_, options)) {}

void Runner::upload(const Weights& weights) {
  check(weights.size() == program_.parameters.size(), "{} tensors for {} parameters", weights.size(),
        program_.parameters.size());
  for (std::size_t i = 0; i < weights.size(); ++i) executable_->upload(program_.parameters[i], weights[i]);
}

Weights Runner::download() const {
  Weights weights;
  for (const program::BufferId id : program_.parameters) {
    weights.emplace_back(program_.buffers[static_cast<std::size_t>(id)].elements);
    executable_->download(id, weights.back());
  }
  return weights;
}

StepResult Runner::step(const device::StepInput& input) {
  StepResult result;
  for (std::size_t segment = 0; segment < program_.segments.size() && result.finite; ++segment) {
    result.finite = executable_->run(segment, input);
  }
  executable_->download(program_.loss, {&result.loss, 1});
  const std::vector<std::int64_t> tally = executable_->tally();
  const auto middle = tally.begin() + program_.classes;
  result.seen.assign(tally.begin(), middle);
  result.right.assign(middle, tally.end());
  return result;
}

}  // namespace lockstep::run
