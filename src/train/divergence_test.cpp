#include "train/divergence.h"

#include <algorithm>
#include <limits>

#include <gtest/gtest.h>

#include "base/same_bits_for_test.h"
#include "cpu/cpu_device.h"
#include "model/zoo.h"
#include "program/compile.h"

namespace lockstep::train {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kHuge = 3e38f;

constexpr std::size_t kExamples = 300,  // more than one slice of a replay
    kPixels = 28 * 28;

// Black pictures but for one example, so that what overflows does so there.
struct Pictures {
  std::vector<std::uint8_t> pixels = std::vector<std::uint8_t>(kExamples * kPixels, 0),
                            labels = std::vector<std::uint8_t>(kExamples, 3);
  std::vector<std::uint32_t> order;
  std::unique_ptr<device::Device> device = cpu::make_cpu_device({.threads = 2});
  model::Model model = model::lenet();
  Weights weights = initial_weights(model, 1);

  Pictures() {
    for (std::uint32_t i = 0; i < kExamples; ++i) order.push_back(i);
  }
  void light(std::size_t example) {
    std::fill_n(pixels.begin() + static_cast<std::ptrdiff_t>(example * kPixels), kPixels, std::uint8_t{255});
  }
  Divergence find() {
    const device::StepInput input{{pixels.data(), labels.data(), order}, {0.1f}};
    run::Runner runner(*device, run::data_parallel(program::compile_training(model), {}),
                       {.most_examples = static_cast<int>(kExamples)});
    runner.upload(weights);
    EXPECT_FALSE(runner.step(input).finite);
    return find_divergence(*device, model, runner, input);
  }
};

// lenet's parameters: conv1 w b, conv2 w b, linear1 w b, linear2 w b
enum {
  conv1_weight,
  conv1_bias,
  conv2_weight,
  conv2_bias,
  linear1_weight,
  linear1_bias,
  linear2_weight,
  linear2_bias
};

TEST(Divergence, NamesTheLayerOfAnInfiniteBias) {
  const std::pair<int, std::string> cases[] = {{conv1_bias, "the output of conv1"},
                                               {conv2_bias, "the output of conv2"},
                                               {linear1_bias, "the output of linear1"},
                                               {linear2_bias, "the output of linear2"}};
  for (const auto& [parameter, where] : cases) {
    for (const float bad : {kInfinity, std::numeric_limits<float>::quiet_NaN()}) {
      Pictures pictures;
      pictures.weights[static_cast<std::size_t>(parameter)][1] = bad;
      const Divergence found = pictures.find();
      EXPECT_EQ(found.where, where) << bad;
      EXPECT_EQ(found.example, 0) << bad;
    }
  }
}

TEST(Divergence, NamesTheFirstExampleThatOverflows) {
  for (const std::size_t example : {0U, 5U, 17U, 255U, 256U, 299U}) {
    Pictures pictures;
    pictures.light(example);
    for (float& w : pictures.weights[conv1_weight]) w = kHuge;
    const Divergence found = pictures.find();
    EXPECT_EQ(found.where, "the output of conv1");
    EXPECT_EQ(found.example, static_cast<int>(example));
  }
}

TEST(Divergence, FindsAPoolThatOverflowsBehindAFiniteConvolution) {
  Pictures pictures;
  pictures.weights[conv1_bias].assign(20, kHuge);
  for (float& w : pictures.weights[conv1_weight]) w = 0;
  EXPECT_EQ(pictures.find().where, "the output of pool1");
}

TEST(Divergence, FindsALossThatOverflowsOnFiniteOutputs) {
  Pictures pictures;
  pictures.weights[linear2_bias][0] = kHuge;
  pictures.weights[linear2_bias][3] = -kHuge;  // the label's
  const Divergence found = pictures.find();
  EXPECT_EQ(found.where, "the loss");
  EXPECT_EQ(found.example, 0);
}

TEST(Divergence, FindsAGradientWhenEveryOutputIsFinite) {
  Pictures pictures;
  pictures.light(23);
  // Small numbers go forward through large weights; on the way back a large one does.
  for (const int layer : {conv2_weight, linear1_weight, linear2_weight}) {
    std::ranges::fill(pictures.weights[static_cast<std::size_t>(layer)], 0.0f);
  }
  std::ranges::fill(pictures.weights[conv2_bias], 1e-30f);
  std::fill_n(pictures.weights[linear1_weight].begin(), 800, 1e15f);
  pictures.weights[linear2_weight][0] = 1e25f;
  const Divergence found = pictures.find();
  EXPECT_EQ(found.where, "the gradient behind linear1");
}

// Examples of a group depend on each other: what goes wrong in one example goes wrong in all of them, and a
// replay of a part of a group would compute with other statistics.
TEST(Divergence, ABatchNormIsReplayedWithItsWholeGroup) {
  for (const int ghost : {0, 32, 288}) {
    for (const std::size_t example : {5U, 299U}) {
      Pictures pictures;
      pictures.model.layers.insert(pictures.model.layers.begin() + 1, {"bn1", model::BatchNorm{ghost}});
      pictures.weights = initial_weights(pictures.model, 1);
      pictures.light(example);
      for (float& w : pictures.weights[conv1_weight]) w = kHuge;
      const Divergence found = pictures.find();
      EXPECT_EQ(found.where, "the output of conv1");
      EXPECT_EQ(found.example, static_cast<int>(example));
    }
  }
  // Every output of the convolution is finite; the sum over the positions of one example is not.
  Pictures pictures;
  pictures.model.layers.insert(pictures.model.layers.begin() + 1, {"bn1", model::BatchNorm{}});
  pictures.weights = initial_weights(pictures.model, 1);
  pictures.light(280);
  for (float& w : pictures.weights[conv1_weight]) w = 1e36f;
  const Divergence found = pictures.find();
  EXPECT_EQ(found.where, "the output of bn1");
  EXPECT_EQ(found.example, 0);
}

// Every number of every example is finite; their sum over the minibatch is not. With a sharded optimizer only
// its owner has it, and that is not the first device: the last parameter's gradient is small and goes whole
// to the rank that has the least, so all owners are looked at.
TEST(Divergence, FindsASumThatOverflowsAtWhicheverOwner) {
  Pictures pictures;
  std::vector<std::unique_ptr<device::Device>> devices =
      cpu::make_cpu_devices({.names = {"cpu:0", "cpu:1", "cpu:2"}, .threads = 1, .bind = false});
  run::Crew crew(std::move(devices), {.share_cores = true});
  run::Runner runner(crew,
                     run::data_parallel(program::compile_training(pictures.model),
                                        run::plan_for(crew, {.shard_optimizer = true})),
                     {.most_examples = static_cast<int>(kExamples)});
  // Outputs stay finite and equal, so that the loss's gradient is the same small number for every example;
  // what comes in at the second linear layer is huge, and 300 times it is more than a float holds.
  std::ranges::fill(pictures.weights[linear2_weight], 0.0f);
  std::ranges::fill(pictures.weights[linear1_bias], kHuge);
  runner.upload(pictures.weights);
  const device::StepInput input{{pictures.pixels.data(), pictures.labels.data(), pictures.order}, {0.1f}};
  ASSERT_FALSE(runner.step(input).finite);
  EXPECT_THAT(runner.download(0), SameBits(pictures.weights)) << "nothing was updated";
  EXPECT_THAT(runner.download(2), SameBits(pictures.weights));
  EXPECT_EQ(find_divergence(*pictures.device, pictures.model, runner, input).where,
            "the gradient of linear2.weight");
}

}  // namespace
}  // namespace lockstep::train
