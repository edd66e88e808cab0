#include "measure/step_bench.h"

#include <memory>

#include "cpu/cores.h"
#include "measure/training_step.h"
#include "measure/turns.h"
#include "train/calibrate.h"

namespace lockstep::measure {
namespace {

std::unique_ptr<TrainingStep> make_step(const StepBenchOptions& options, const StepSetting& setting,
                                        const SyntheticMinibatch& minibatch) {
  std::unique_ptr<run::Crew> crew = setting.names.empty()
                                        ? options.make_crew(setting.devices, setting.threads)
                                        : options.make_named_crew(setting.names, setting.threads);
  std::vector<double> shares = setting.shares;
  if (shares.empty() && !crew->alike())
    shares = train::measure_speeds(*crew, {.model = options.model}, {}, minibatch.step_input().minibatch);
  return std::make_unique<TrainingStep>(std::move(crew), options.model, minibatch,
                                        program::DataPlan{.shares = std::move(shares)});
}

}  // namespace

std::vector<StepFigure> bench_steps(const StepBenchOptions& options, FmaPeak& peak) {
  const model::Model& model = options.model;
  const SyntheticMinibatch minibatch(model.input, model::classes_of(model), options.examples);
  std::vector<std::unique_ptr<TrainingStep>> steps;
  std::vector<std::function<void()>> runs;
  for (const StepSetting& setting : options.settings) {
    steps.push_back(make_step(options, setting, minibatch));
    runs.emplace_back([step = steps.back().get()] { step->run(); });
  }
  const std::vector<Timing> times = take_turns(options.pace, peak, runs);
  std::vector<StepFigure> figures;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const StepSetting& setting = options.settings[i];
    const int cores = setting.names.empty() ? setting.cores_of(cpu::usable_cores()) : 0;
    figures.push_back({setting, cores, steps[i]->flops(), times[i], options.examples});
  }
  return figures;
}

}  // namespace lockstep::measure
