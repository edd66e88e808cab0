#include "train/checkpoint.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/refusal_for_test.h"
#include "base/same_bits_for_test.h"
#include "model/example_groups.h"
#include "model/zoo.h"
#include "run/state_for_test.h"

namespace lockstep::train {
namespace {

using testing::HasSubstr;

using arithmetic::UpdateKind;

TrainState some_state() {
  TrainState state{.tensors = run::numbered_state(model::mlp(), UpdateKind::momentum)};
  state.step = 7;
  state.epoch = 2;
  state.step_in_epoch = 3;
  state.loss_sum = 0.1;
  state.seconds = 0.25;
  state.epochs.resize(1);
  state.epochs[0].epoch = 1;
  state.epochs[0].test_examples = 100;
  return state;
}

// Four steps an epoch, as some_state() has them.
const store::DataSizes kSizes{
    .train = 1000, .test = 100, .channels = 1, .height = 28, .width = 28, .classes = 10};

store::RunConfig config() {
  store::RunConfig c;
  c.job.model = "mlp";
  c.job.optimizer = arithmetic::sgd_with_momentum(0.5f);
  return c;
}

TEST(TrainCheckpoint, AStateComesBackFromItsCheckpoint) {
  const TrainState state = some_state();
  const TrainState back =
      state_of(checkpoint_of(state, model::mlp(), config()), model::mlp(), kSizes, "file");
  EXPECT_THAT(numbers_of(back.tensors), SameBits(numbers_of(state.tensors)));
  for (std::size_t t = 0; t < state.tensors.size(); ++t)
    EXPECT_EQ(back.tensors[t].name, state.tensors[t].name);
  EXPECT_EQ(back.step, 7);
  EXPECT_EQ(back.epoch, 2);
  EXPECT_EQ(back.step_in_epoch, 3);
  EXPECT_THAT(back.loss_sum, SameBits(0.1));
  EXPECT_EQ(back.seconds, 0.25);
  EXPECT_EQ(back.epochs.size(), 1U);
}

TEST(TrainCheckpoint, RefusesAnotherModelsTensors) {
  const store::Checkpoint checkpoint = checkpoint_of(some_state(), model::mlp(), config());
  EXPECT_THROW(state_of(checkpoint, model::lenet(), kSizes, "file"), Error);
  store::Checkpoint renamed = checkpoint;
  renamed.tensors[1].name = "other";
  EXPECT_THROW(state_of(renamed, model::mlp(), kSizes, "file"), Error);
}

// Every rule's checkpoint under the config of every rule that has other states.
TEST(TrainCheckpoint, RefusesAnotherRulesTensors) {
  const auto config_of = [](UpdateKind rule) {
    store::RunConfig other = config();
    other.job.optimizer = {.kind = rule};
    return other;
  };
  for (const arithmetic::UpdateRule& written : arithmetic::kUpdateRules) {
    TrainState state = some_state();
    state.tensors = run::numbered_state(model::mlp(), written.kind);
    store::Checkpoint checkpoint = checkpoint_of(state, model::mlp(), config_of(written.kind));
    for (const arithmetic::UpdateRule& read : arithmetic::kUpdateRules) {
      if (std::ranges::equal(read.states, written.states)) continue;
      checkpoint.config = config_of(read.kind);
      const std::string why =
          refusal_of(Fault::data, [&] { state_of(checkpoint, model::mlp(), kSizes, "file"); });
      EXPECT_THAT(why, HasSubstr(fmt::format("model mlp with update rule {}, found ", read.name)));
      EXPECT_EQ(why.find('\n'), std::string::npos);
    }
  }
  store::Checkpoint without = checkpoint_of(some_state(), model::mlp(), config());
  without.tensors.resize(4);
  EXPECT_EQ(
      refusal_of(Fault::data, [&] { state_of(without, model::mlp(), kSizes, "file"); }),
      "file: tensors: expected tensor \"velocity:linear1.weight\" of shape [256, 784] of model mlp with "
      "update rule momentum, found only 4 tensors");
}

TEST(TrainCheckpoint, RefusesAPlaceThatItsDataDoesNotHave) {
  const store::Checkpoint checkpoint = checkpoint_of(some_state(), model::mlp(), config());
  const auto refusal = [&](const store::DataSizes& sizes) {
    return refusal_of(Fault::data, [&] { state_of(checkpoint, model::mlp(), sizes, "file"); });
  };
  store::DataSizes sizes = kSizes;
  sizes.train = 1025;
  EXPECT_EQ(refusal(sizes), "file: step: expected step 3 of epoch 2, with 5 steps an epoch, found 7");
  sizes.train = 768;
  EXPECT_EQ(refusal(sizes),
            "file: step_in_epoch: expected a whole number below 3, the steps of an epoch, found 3");
  sizes = kSizes;
  sizes.test = 101;
  EXPECT_EQ(refusal(sizes), "file: finished epoch 1: test_examples: expected 101, found 100");
}

TEST(TrainCheckpoint, TensorsAreTheParametersThenTheRulesStates) {
  EXPECT_EQ(checkpoint_tensors({.model = "mlp"}).tensors.size(), 4U);
  const store::ExpectedTensors expected =
      checkpoint_tensors({.model = "mlp", .optimizer = arithmetic::sgd_with_momentum(0.5f)});
  ASSERT_EQ(expected.tensors.size(), 8U);
  EXPECT_EQ(expected.tensors[0], (store::TensorShape{"linear1.weight", {256, 784}}));
  EXPECT_EQ(expected.tensors[4], (store::TensorShape{"velocity:linear1.weight", {256, 784}}));
  EXPECT_EQ(expected.tensors[7], (store::TensorShape{"velocity:linear2.bias", {10}}));
  EXPECT_EQ(expected.of, "model mlp with update rule momentum");
  EXPECT_THROW(checkpoint_tensors({.model = "none"}), Error);
}

TEST(SizesOf, AreCountsAndShapes) {
  const data::Dataset train{.channels = 1,
                            .height = 2,
                            .width = 3,
                            .classes = 4,
                            .pixels = std::vector<std::uint8_t>(12),
                            .labels = {0, 0}};
  data::Dataset test = train;
  test.pixels.resize(6);
  test.labels.resize(1);
  EXPECT_EQ(to_text(sizes_of({train, test})), "2 + 1 pictures of 1x2x3, 4 classes");
  EXPECT_EQ(to_text(sizes_of({test, train})), "1 + 2 pictures of 1x2x3, 4 classes");
  EXPECT_EQ(hash_of(data::Split{train, test}), hash_of(data::Split{test, train}));
}

TEST(ModelOf, HasTheConfigsGhost) {
  for (const int ghost : {0, 48}) {
    for (const model::ExampleGroups& groups :
         model::example_groups_of(model_of({.model = "resnet8", .ghost = ghost})))
      EXPECT_EQ(groups.examples, static_cast<std::size_t>(ghost)) << groups.layer;
  }
  EXPECT_THROW(model_of({.model = "lenet", .ghost = 48}), Error);
}

TEST(ModelOf, HasTheConfigsRuleForConvolutions) {
  for (const auto rule : {arithmetic::ConvolutionRule::fast, arithmetic::ConvolutionRule::direct}) {
    const store::JobConfig job{.model = "lenet", .convolution = rule};
    EXPECT_EQ(model_of(job).name, "lenet");
    EXPECT_EQ(model_of(job).convolution, rule);
    EXPECT_EQ(job_of(job, 100).model.convolution, rule);
  }
}

TEST(JobOf, HasEveryNumberOfTheConfig) {
  const arithmetic::Optimizer optimizer{.kind = UpdateKind::adam, .weight_decay = 0.1};
  const arithmetic::Schedule schedule{.kind = arithmetic::ScheduleKind::cosine, .warmup = 3};
  const Job job = job_of({.model = "mlp",
                          .seed = 3,
                          .batch = 64,
                          .lr = 0.5f,
                          .optimizer = optimizer,
                          .schedule = schedule,
                          .epochs = 7},
                         100);
  EXPECT_EQ(job.model.name, "mlp");
  EXPECT_EQ(job.seed, 3U);
  EXPECT_EQ(job.batch, 64);
  EXPECT_EQ(job.learning_rate, 0.5f);
  EXPECT_EQ(job.optimizer, optimizer);
  EXPECT_EQ(job.schedule, schedule);
  EXPECT_EQ(job.epochs, 7);
  EXPECT_EQ(job_of({.batch = 64}, 50).batch, 50);
}

}  // namespace
}  // namespace lockstep::train
