// A training's state, through a checkpoint's bytes, to other devices.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/same_bits_for_test.h"
#include "store/bytes_for_test.h"
#include "train/checkpoint.h"
#include "train/trainer_job_for_test.h"

namespace lockstep::train {
namespace {

struct Hardware {
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
TrainState trained(const Job& job, const Hardware& hardware, std::optional<TrainState> resume,
                   int steps = 100) {
  TrainState last;
  train(job, kData, *make_crew(hardware.devices),
        {.machine = hardware.machine(), .resume = std::move(resume), .stop = [&] { return steps-- == 0; }},
        {.checkpoint = [&](const TrainState& state) { last = state; }});
  return last;
}

// A training that is stopped on one set of devices goes on on another and ends as if it had not been stopped.
void expect_to_go_on(const Job& job) {
  const std::vector<Hardware> all_hardware{{1, false}, {3, false}, {2, true}, {3, true}};
  const TrainState whole = trained(job, {}, {});
  for (const Hardware& from : all_hardware) {
    const TrainState saved = trained(job, from, {}, 5);
    EXPECT_EQ(saved.step, 5);
    const TrainState read = through_a_file(saved, job);
    ASSERT_EQ(read.tensors.size(), saved.tensors.size());
    for (std::size_t t = 0; t < read.tensors.size(); ++t)
      EXPECT_EQ(read.tensors[t].name, saved.tensors[t].name);
    EXPECT_THAT(numbers_of(read.tensors), SameBits(numbers_of(saved.tensors)));
    for (const Hardware& to : all_hardware) {
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

// The shapes of resnet8's layers, small: a block that adds what it takes, and one with a stride and a
// convolution beside it.
model::Model small_residual_model(int ghost) {
  const auto before_norm = [](int channels, int stride) {
    return model::Conv2d{.out_channels = channels,
                         .kernel = {3, 3},
                         .stride = {stride, stride},
                         .padding = {1, 1},
                         .bias = false,
                         .initial_weight = model::KaimingUniform{}};
  };
  const model::Conv2d shortcut{.out_channels = 6, .kernel = {1, 1}, .stride = {2, 2}};
  return {"residual",
          {1, 6, 6},
          {{"conv1", before_norm(4, 1)},
           {"norm1", model::BatchNorm{ghost}},
           {"relu1", model::Relu{}},
           {"conv2", before_norm(4, 1)},
           {"norm2", model::BatchNorm{ghost}},
           {"add1", model::Add{}, {"norm2", "relu1"}},
           {"relu2", model::Relu{}},
           {"conv3", before_norm(6, 2)},
           {"norm3", model::BatchNorm{ghost}},
           {"shortcut", shortcut, {"relu2"}},
           {"add2", model::Add{}, {"norm3", "shortcut"}},
           {"relu3", model::Relu{}},
           {"pool1", model::GlobalAvgPool{}},
           {"flatten1", model::Flatten{}},
           {"linear1", model::Linear{3}}},
          0.3};
}

// Epochs end with a minibatch of four examples, and the step where the training stops is inside an epoch.
TEST(Resume, AResidualNetworkWithBatchNormGoesOnOnOtherDevices) {
  std::vector<TrainState> ends;
  for (const int ghost : {0, 16}) {
    Job job = kJob;
    job.model = small_residual_model(ghost);
    job.learning_rate = 0.1f;
    SCOPED_TRACE(ghost);
    expect_to_go_on(job);
    ends.push_back(trained(job, {}, {}));
  }
  EXPECT_NE(numbers_of(ends[0].tensors), numbers_of(ends[1].tensors));
}

// Which elements are dropped is no state: in the middle of an epoch, on other devices, the same ones are.
TEST(Resume, DropoutGoesOnInTheMiddleOfAnEpochOnOtherDevices) {
  Job job = job_by(arithmetic::UpdateKind::adam);
  job.seed = (std::uint64_t{1} << 40) + 5;
  job.model.layers.insert(job.model.layers.begin() + 2, {"drop1", model::Dropout{0.3}});
  job.model.layers.insert(job.model.layers.end() - 1, {"drop2", model::Dropout{0.5}});
  const TrainState whole = trained(job, {}, {});
  for (const int steps : {2, 5}) {
    const TrainState read = through_a_file(trained(job, {3, true}, {}, steps), job);
    for (const Hardware& to : {Hardware{1, false}, Hardware{2, true}, Hardware{4, false}}) {
      const TrainState end = trained(job, to, read);
      EXPECT_EQ(end.step, 12);
      EXPECT_THAT(numbers_of(end.tensors), SameBits(numbers_of(whole.tensors)));
      EXPECT_EQ(end.epochs.back().test_correct, whole.epochs.back().test_correct);
    }
  }
  Job other = job;
  std::get<model::Dropout>(other.model.layers[2].kind).p = 0.31;
  EXPECT_NE(numbers_of(trained(other, {}, {}).tensors), numbers_of(whole.tensors));
}

}  // namespace
}  // namespace lockstep::train
