// A training's state, through a checkpoint's bytes, to other devices.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/same_bits_for_test.h"
#include "store/bytes_for_test.h"
#include "train/checkpoint.h"
#include "train/trainer_job_for_test.h"

namespace lockstep::train {
namespace {

struct Place {
  int devices = 1;
  bool sharded = false;
  Machine machine() const { return {.shard_optimizer = sharded}; }
};

store::RunConfig config_of(const Job& job) {
  store::RunConfig config;
  config.job.model = job.model.name;
  config.job.seed = job.seed;
  config.job.batch = job.batch;
  config.job.lr = job.learning_rate;
  config.job.optimizer = job.optimizer;
  config.job.schedule = job.schedule;
  config.job.epochs = job.epochs;
  return config;
}

TrainState through_a_file(const TrainState& state, const Job& job) {
  const std::string bytes =
      store::bytes_for_test(store::tensor_file_of(checkpoint_of(state, job.model, config_of(job))));
  return state_of(store::parse_checkpoint(std::as_bytes(std::span(bytes)), "file"), job.model,
                  sizes_of(kData), "file");
}

// The state at the end of a training, or where it was stopped.
TrainState trained(const Job& job, const Place& place, std::optional<TrainState> resume, int steps = 100) {
  TrainState last;
  train(job, kData, *make_crew(place.devices),
        {.machine = place.machine(), .resume = std::move(resume), .stop = [&] { return steps-- == 0; }},
        {.checkpoint = [&](const TrainState& state) { last = state; }});
  return last;
}

// A training that is stopped on one set of devices goes on on another and ends as if it had not been stopped.
void expect_to_go_on(const Job& job) {
  const std::vector<Place> places{{1, false}, {3, false}, {2, true}, {3, true}};
  const TrainState whole = trained(job, {}, {});
  for (const Place& from : places) {
    const TrainState saved = trained(job, from, {}, 5);
    EXPECT_EQ(saved.step, 5);
    const TrainState read = through_a_file(saved, job);
    ASSERT_EQ(read.tensors.size(), saved.tensors.size());
    for (std::size_t t = 0; t < read.tensors.size(); ++t)
      EXPECT_EQ(read.tensors[t].name, saved.tensors[t].name);
    EXPECT_THAT(numbers_of(read.tensors), SameBits(numbers_of(saved.tensors)));
    for (const Place& to : places) {
      SCOPED_TRACE(fmt::format("{} devices, sharded {}, to {} devices, sharded {}", from.devices,
                               from.sharded, to.devices, to.sharded));
      const TrainState end = trained(job, to, read);
      EXPECT_EQ(end.step, 12);
      EXPECT_THAT(numbers_of(end.tensors), SameBits(numbers_of(whole.tensors)));
    }
  }
}

TEST(Resume, EveryRulesStateGoesOnOnOtherDevicesWholeOrSharded) {
  for (const arithmetic::UpdateRule& rule : arithmetic::kUpdateRules) {
    Job job = job_by(rule.kind);
    job.schedule = {.kind = arithmetic::ScheduleKind::cosine, .warmup = 3};
    ASSERT_EQ(job.rule(), rule.kind);
    SCOPED_TRACE(rule.name);
    expect_to_go_on(job);
  }
}

TEST(Resume, RunningStatisticsGoOnOnOtherDevices) {
  for (const int ghost : {0, 16}) {
    Job job = job_by(arithmetic::UpdateKind::adam);
    job.model.layers.insert(job.model.layers.begin() + 1, {"bn1", model::BatchNorm{ghost}});
    SCOPED_TRACE(ghost);
    expect_to_go_on(job);
  }
}

}  // namespace
}  // namespace lockstep::train
