#include "audit/verify.h"

#include <algorithm>
#include <chrono>
#include <span>

#include "base/error.h"

namespace lockstep::audit {
namespace {

class Verification {
 public:
  explicit Verification(const VerifyOptions& options)
      : options_(options), tensors_(model::state_tensors(options.job.model, options.job.rule())) {}

  SettingResult run(const Setting& setting) {
    const auto start = std::chrono::steady_clock::now();
    SettingResult result;
    result.setting = setting;
    const std::unique_ptr<run::Crew> crew = options_.make_crew(setting.devices, setting.threads);
    train::Stepper stepper(*crew, options_.job, setting.machine, options_.data);
    stepper.start();
    // A first setting that differs in itself is right up to there; the others are held against that.
    const std::int64_t steps =
        expected_.empty() ? options_.steps : static_cast<std::int64_t>(expected_.size());
    while (stepper.steps() < steps && !result.difference) {
      stepper.step();
      look_at_replicas(stepper, result);
    }
    if (!result.difference) {
      result.weights = train::hash_of(stepper.runner().download());
      look_at_state(stepper, result);
    }
    if (expected_.empty()) expected_ = result.hashes;
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return result;
  }

 private:
  // Hashes every device's own buffers. The first device of the first setting says what is right.
  void look_at_replicas(train::Stepper& stepper, SettingResult& result) {
    run::Runner& runner = stepper.runner();
    const std::size_t step = result.hashes.size();
    for (int device = 0; device < runner.crew().size(); ++device) {
      std::vector<Hash128> hashes;
      for (const program::BufferId id : runner.program().parameters)
        hashes.push_back(hash128(std::as_bytes(runner.executable(device).parameter(id))));
      if (device == 0) result.hashes.push_back(hashes);
      const std::vector<Hash128>& expected = expected_.empty() ? result.hashes[step] : expected_[step];
      if (hashes == expected || result.difference) continue;
      const run::Weights wrong = runner.download(device);
      run::Weights right = expected_.empty() ? runner.download(0) : state_after(stepper.steps());
      right.resize(wrong.size());  // the parameters, which stand first
      const std::optional<ElementDifference> element = first_difference(tensors_, right, wrong);
      if (!element) throw Error(Fault::ours, "defect: hashes differ where no element does");
      result.difference = {stepper.steps(), device, runner.crew().device(device).name(), *element};
      result.weights = train::hash_of(wrong);
    }
  }

  // Optimizer states may lie divided among devices, so the whole state is compared, after the last step.
  void look_at_state(train::Stepper& stepper, SettingResult& result) {
    run::Runner& runner = stepper.runner();
    const run::Weights found = numbers_of(runner.state());
    std::vector<Hash128> hashes;
    for (const std::vector<float>& numbers : found)
      hashes.push_back(hash128(std::as_bytes(std::span(numbers))));
    if (expected_.empty()) expected_state_ = hashes;
    if (expected_state_.empty() || hashes == expected_state_) return;
    const std::optional<ElementDifference> element =
        first_difference(tensors_, state_after(stepper.steps()), found);
    if (!element) throw Error(Fault::ours, "defect: hashes differ where no element does");
    const auto tensor = std::ranges::find(tensors_, element->tensor, &model::StateTensor::name);
    const int device = runner.holder(static_cast<std::size_t>(tensor - tensors_.begin()), element->index);
    result.difference = {stepper.steps(), device, runner.crew().device(device).name(), *element};
  }

  // What the first setting has after that number of steps: by running it again, not by keeping copies.
  run::Weights state_after(std::int64_t steps) const {
    const Setting& first = options_.settings.front();
    const std::unique_ptr<run::Crew> crew = options_.make_crew(first.devices, first.threads);
    train::Stepper stepper(*crew, options_.job, first.machine, options_.data);
    stepper.start();
    while (stepper.steps() < steps) stepper.step();
    return numbers_of(stepper.runner().state());
  }

  const VerifyOptions& options_;
  const std::vector<model::StateTensor> tensors_;
  std::vector<std::vector<Hash128>> expected_;  // of the first setting, by step and parameter
  std::vector<Hash128> expected_state_;         // of the first setting after the last step, by tensor
};

}  // namespace

std::vector<SettingResult> verify(const VerifyOptions& options) {
  Verification verification(options);
  std::vector<SettingResult> results;
  for (const Setting& setting : options.settings) {
    results.push_back(verification.run(setting));
    if (options.on_setting) options.on_setting(results.back());
  }
  return results;
}

}  // namespace lockstep::audit
