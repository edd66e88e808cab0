// The naive twin of a model against the same network in double: values, loss, and gradients by central
// differences.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"
#include "reference/double_network.h"
#include "reference/network.h"
#include "reference/softmax_cross_entropy.h"
#include "reference/update.h"

namespace lockstep::reference {

inline Tensor random_tensor(std::size_t count, std::string_view name) {
  Tensor values(count);
  const std::uint32_t stream = stream_id(name);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>(random_block(7, i, 0, stream)[0] >> 8) * 0x1p-23f - 1.0f;
  }
  return values;
}

constexpr int kExamples = 19;         // a whole pack and a short one
constexpr std::size_t kProbes = 25;   // elements checked per parameter
constexpr double kDifference = 1e-5;  // step of the central difference
constexpr double kValueTolerance = 1e-4;
constexpr double kTolerance = 2e-6;  // gradients are below 1; fp32 has 6e-8

// Every value of every layer.
inline void expect_near_values(const model::Model& model, const std::vector<Doubles>& parameters,
                               std::span<const float> images, const std::vector<Tensor>& values,
                               const Draws& draws) {
  const std::vector<Doubles> expected = double_values(model, parameters, images, draws);
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t v = 0; v < values.size(); ++v) {
    ASSERT_EQ(values[v].size(), expected[v].size());
    for (std::size_t i = 0; i < expected[v].size(); ++i)
      ASSERT_NEAR(values[v][i], expected[v][i], kValueTolerance) << "value " << v << " at " << i;
  }
}

// The twin's values and gradients are near those of the network in double.
inline void check_gradients(const model::Model& model) {
  const Tensor images = random_tensor(static_cast<std::size_t>(kExamples * model.input.elements()), "images");
  std::vector<std::uint8_t> labels;
  const int classes = model::classes_of(model);
  for (int e = 0; e < kExamples; ++e) labels.push_back(static_cast<std::uint8_t>(e % classes));

  std::vector<Tensor> parameters;
  std::vector<Doubles> doubles;
  const std::vector<model::Parameter> named = model::parameters_of(model);
  for (const model::Parameter& parameter : named) {
    parameters.push_back(random_tensor(parameter.elements(), parameter.name));
    for (float& value : parameters.back()) value *= 0.5f;
    doubles.emplace_back(parameters.back().begin(), parameters.back().end());
  }
  Draws draws{.seed = 11, .epoch = 2};
  for (std::uint32_t e = 0; e < kExamples; ++e) draws.examples.push_back(100 - 3 * e);
  const std::vector<Tensor> activations = forward(model, parameters, kExamples, images, draws);
  expect_near_values(model, doubles, images, activations, draws);
  const Loss loss = softmax_cross_entropy(classes, activations.back(), labels);
  EXPECT_NEAR(loss_sum(loss.loss) / kExamples, double_mean_loss(model, doubles, images, labels, draws), 1e-5);

  const std::vector<Tensor> sums = backward(model, parameters, kExamples, activations, loss.dz, draws);
  ASSERT_EQ(sums.size(), parameters.size());
  for (std::size_t p = 0; p < sums.size(); ++p) {
    if (!named[p].trained()) {
      EXPECT_TRUE(sums[p].empty());
      continue;
    }
    const Tensor mean = mean_gradient(sums[p], kExamples);
    ASSERT_EQ(mean.size(), parameters[p].size());
    for (std::size_t i = 0; i < mean.size(); i += 1 + mean.size() / kProbes) {
      const double kept = doubles[p][i];
      doubles[p][i] = kept + kDifference;
      const double above = double_mean_loss(model, doubles, images, labels, draws);
      doubles[p][i] = kept - kDifference;
      const double below = double_mean_loss(model, doubles, images, labels, draws);
      doubles[p][i] = kept;
      EXPECT_NEAR(mean[i], (above - below) / (2 * kDifference), kTolerance)
          << "parameter " << p << " at " << i;
    }
  }
}

}  // namespace lockstep::reference
