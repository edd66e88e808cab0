#include "reference/step.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "arithmetic/initial_weights.h"
#include "base/same_bits_for_test.h"
#include "model/zoo.h"
#include "reference/evaluate.h"
#include "reference/softmax_cross_entropy.h"
#include "reference/update.h"

namespace lockstep::reference {
namespace {

struct Examples {
  Tensor images;
  std::vector<std::uint8_t> labels;
  Batch batch() const { return {images, labels}; }
};

// Class c has a bright block of its own; the rest is dim.
Examples blocks(const model::Model& model, int examples) {
  const int classes = model::classes_of(model), pixels = model.input.elements();
  Examples made;
  for (int e = 0; e < examples; ++e) {
    const int label = e % classes;
    made.labels.push_back(static_cast<std::uint8_t>(label));
    for (int i = 0; i < pixels; ++i) {
      const bool bright = i * classes / pixels == label;
      made.images.push_back((bright ? 0.9f : 0.1f) + 0.01f * static_cast<float>((i * 7 + e * 3) % 5));
    }
  }
  return made;
}

TEST(TrainStep, IsForwardLossBackwardMeanAndSgd) {
  const model::Model model = model::mlp();
  const Examples examples = blocks(model, 18);
  const std::vector<Tensor> parameters = initial_parameters(model, 3);
  const Step step = train_step(model, parameters, examples.batch(), 0.2f);

  const std::vector<Tensor> activations = forward(model, parameters, 18, examples.images);
  const Loss loss = softmax_cross_entropy(10, activations.back(), examples.labels);
  const std::vector<Tensor> sums = backward(model, parameters, 18, activations, loss.dz);
  EXPECT_THAT(step.loss, SameBits(loss_sum(loss.loss) / 18.0f));
  EXPECT_EQ(step.correct, loss.correct);
  ASSERT_EQ(step.parameters.size(), 4u);
  for (std::size_t p = 0; p < 4; ++p) {
    EXPECT_THAT(step.gradients[p], SameBits(mean_gradient(sums[p], 18)));
    Tensor expected = parameters[p];
    sgd(expected, step.gradients[p], 0.2f);
    EXPECT_THAT(step.parameters[p], SameBits(expected));
    EXPECT_NE(step.parameters[p], parameters[p]);
  }
}

TEST(TrainStep, TeachesLenet) {
  const model::Model model = model::lenet();
  const Examples examples = blocks(model, 20);
  std::vector<Tensor> parameters = initial_parameters(model, 1);
  const float first = train_step(model, parameters, examples.batch(), 0.1f).loss;
  EXPECT_NEAR(first, std::log(10.0f), 0.01f);
  // The book's sigma of 0.01 learns slowly at first; a tenfold one shows within a few steps.
  for (Tensor& parameter : parameters) {
    for (float& value : parameter) value *= 10;
  }
  float last = 0;
  for (int i = 0; i < 5; ++i) {
    Step step = train_step(model, parameters, examples.batch(), 0.1f);
    if (i == 0) last = step.loss;
    EXPECT_LE(step.loss, last) << "step " << i;
    last = step.loss;
    parameters = std::move(step.parameters);
  }
  EXPECT_LT(last, first);
}

TEST(TrainStep, GivesOneExampleItsOwnGradient) {
  const model::Model model{.name = "tiny", .input = {1}, .layers = {{"linear1", model::Linear{2}}}};
  const std::vector<Tensor> parameters{{0, 0}, {0, 0}};
  const Tensor images{2};
  const std::vector<std::uint8_t> labels{1};
  const Step step = train_step(model, parameters, {images, labels}, 0.5f);
  EXPECT_THAT(step.gradients, SameBits(std::vector<Tensor>{{1, -1}, {0.5f, -0.5f}}));
  EXPECT_THAT(step.parameters, SameBits(std::vector<Tensor>{{-0.5f, 0.5f}, {-0.25f, 0.25f}}));
}

model::Model normalised() {
  return {
      .name = "normalised",
      .input = {2},
      .layers = {{"linear1", model::Linear{3}}, {"bn1", model::BatchNorm{}}, {"linear2", model::Linear{2}}}};
}

TEST(TrainStep, MovesTheRunningStatistics) {
  const model::Model model = normalised();
  const std::vector<Tensor> parameters = initial_parameters(model, 3);
  const Tensor images{1, 2, 3, 5};
  const std::vector<std::uint8_t> labels{0, 1};
  const Step step = train_step(model, parameters, {images, labels}, 0.5f);
  EXPECT_TRUE(step.finite);
  std::vector<Tensor> expected = parameters;
  update_running_statistics(model, expected, 2, forward(model, parameters, 2, images));
  for (const std::size_t p : {4U, 5U}) {  // bn1.running_mean, bn1.running_var
    EXPECT_TRUE(step.gradients[p].empty());
    EXPECT_THAT(step.parameters[p], SameBits(expected[p]));
    EXPECT_NE(step.parameters[p], parameters[p]);
  }
  EXPECT_NE(evaluate(model, step.parameters, {images, labels}).loss,
            train_step(model, step.parameters, {images, labels}, 0).loss);
}

TEST(TrainStep, ChangesNothingIfItIsNotFinite) {
  const model::Model model = normalised();
  std::vector<Tensor> parameters = initial_parameters(model, 3);
  parameters[0][0] = 3e38f;
  const Tensor images{1, 2, 3, 5};
  const std::vector<std::uint8_t> labels{0, 1};
  const Step step = train_step(model, parameters, {images, labels}, 0.5f);
  EXPECT_FALSE(step.finite);
  EXPECT_THAT(step.parameters, SameBits(parameters));
}

TEST(InitialParameters, AreNormalWeightsAndZeroBiases) {
  const std::vector<Tensor> parameters = initial_parameters(model::lenet(), 9);
  Tensor expected(20 * 9);
  arithmetic::fill_initial(expected, "conv1.weight", 9, 0.01f);
  EXPECT_THAT(parameters[0], SameBits(expected));
  EXPECT_THAT(parameters[1], SameBits(Tensor(20)));
}

TEST(Evaluate, SeesWhatAStepSees) {
  const model::Model model = model::mlp();
  const Examples examples = blocks(model, 33);
  const std::vector<Tensor> parameters = initial_parameters(model, 3);
  const Step step = train_step(model, parameters, examples.batch(), 0.2f);
  const Evaluation before = evaluate(model, parameters, examples.batch());
  EXPECT_THAT(before.loss, SameBits(step.loss));
  EXPECT_EQ(before.correct, step.correct);
  EXPECT_LT(evaluate(model, step.parameters, examples.batch()).loss, before.loss);
}

}  // namespace
}  // namespace lockstep::reference
