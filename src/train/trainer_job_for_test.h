// A training of a few milliseconds, for tests of the loop.
#pragma once
#include <memory>
#include <string>

#include "cpu/cpu_device.h"
#include "train/trainer.h"

namespace lockstep::train {

inline model::Model small_model() {
  return {"small",
          {1, 6, 6},
          {{"conv1", model::Conv2d{4, {3, 3}}},
           {"relu1", model::Relu{}},
           {"pool1", model::AvgPool{{2, 2}, {2, 2}}},
           {"flatten1", model::Flatten{}},
           {"linear1", model::Linear{3}}},
          0.3};
}

inline data::Dataset make_set(std::size_t size, unsigned salt) {
  data::Dataset set{1, 6, 6, 3, {}, {}};
  for (std::size_t e = 0; e < size; ++e) {
    const std::size_t label = (e * 7 + salt) % 3;
    set.labels.push_back(static_cast<std::uint8_t>(label));
    for (std::size_t p = 0; p < 36; ++p) {
      set.pixels.push_back(
          static_cast<std::uint8_t>((e * 31 + p * 17 + salt) % 90 + (p / 12 == label ? 120 : 0)));
    }
  }
  return set;
}

inline const data::Split kData{make_set(100, 1), make_set(50, 2)};
inline const Job kJob{small_model(), 5, 32, 0.3f, 3};

// The same job by another update rule, with weight decay.
inline Job job_by(arithmetic::UpdateKind rule) {
  Job job = kJob;
  const arithmetic::OptimizerRequest asked{.kind = rule, .weight_decay = 0.01};
  job.optimizer = arithmetic::resolve(asked, [](std::string_view option) { return std::string(option); });
  if (arithmetic::update_rule(rule).takes_betas) job.learning_rate = 0.01f;
  return job;
}

// A crew of CPU devices for tests: they share whatever cores there are.
inline std::unique_ptr<run::Crew> make_crew(int devices, int threads = 1) {
  std::vector<std::string> names;
  for (int d = 0; d < devices; ++d) names.push_back("cpu:" + std::to_string(d));
  return std::make_unique<run::Crew>(
      cpu::make_cpu_devices({.names = names, .threads = threads, .bind = false}),
      run::Crew::Options{.share_cores = true});
}

}  // namespace lockstep::train
