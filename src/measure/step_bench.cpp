#include "measure/step_bench.h"

#include <memory>

#include "device/cpu/cores.h"
#include "measure/training_step.h"
#include "measure/turns.h"

namespace lockstep::measure {

std::vector<StepFigure> bench_steps(const StepBenchOptions& options, FmaPeak& peak) {
  const model::Model& model = options.model;
  const SyntheticMinibatch minibatch(model.input, model::classes_of(model), options.examples);
  std::vector<std::unique_ptr<TrainingStep>> steps;
  std::vector<std::function<void()>> runs;
  for (const StepSetting& setting : options.settings) {
    steps.push_back(std::make_unique<TrainingStep>(options.make_crew(setting.devices, setting.threads), model,
                                                   minibatch));
    runs.emplace_back([step = steps.back().get()] { step->run(); });
  }
  const std::vector<Timing> times = take_turns(options.pace, peak, runs);
  std::vector<StepFigure> figures;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const StepSetting setting = options.settings[i];
    figures.push_back({setting, setting.cores_of(device::cpu::usable_cores()), steps[i]->flops(), times[i]});
  }
  return figures;
}

}  // namespace lockstep::measure
