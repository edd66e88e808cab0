// The jobs whose weights are recorded in tests/golden: the zoo's models, and small models for what the zoo's
// models do not have. The name of a small model says what its layers are about.
#pragma once
#include <ostream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "arithmetic/convolution_rule.h"
#include "arithmetic/optimizer.h"
#include "arithmetic/schedule.h"
#include "model/zoo.h"

namespace lockstep {

struct GoldenJob {
  std::string name;
  model::Model model;
  float learning_rate = 0.2f;
  arithmetic::Optimizer optimizer = {};
  arithmetic::Schedule schedule = {};
  int steps = 20;
  std::size_t batch = 256;
  int twin_steps = 2;  // that the naive twin computes, too

  std::string file() const { return fmt::format("{}-{}.txt", name, arithmetic::name_of(model.convolution)); }
  friend std::ostream& operator<<(std::ostream& out, const GoldenJob& job) { return out << job.file(); }
};

using arithmetic::ConvolutionRule;

inline GoldenJob zoo_job(std::string_view name, ConvolutionRule rule) {
  model::Model model = model::zoo_model(name);
  model.convolution = rule;
  return {.name = std::string(name), .model = std::move(model)};
}

// Few steps of few examples: the network is large. The twin's one step takes longer than all others.
inline GoldenJob resnet18_job() {
  GoldenJob job = zoo_job("resnet18", ConvolutionRule::fast);
  job.learning_rate = 0.1f;
  job.steps = 3;
  job.batch = 16;
  job.twin_steps = 1;
  return job;
}

// Weights of N(0, 0.1) learn from the first step on; the zoo's N(0, 0.01) would leave these hashes on a
// plateau.
inline GoldenJob small_job(std::string_view name, std::vector<model::LayerKind> kinds,
                           ConvolutionRule rule = ConvolutionRule::direct) {
  kinds.insert(kinds.end(), {model::Flatten{}, model::Linear{10}});
  model::Model model{
      .name = std::string(name), .input = {1, 28, 28}, .layers = {}, .sigma = 0.1, .convolution = rule};
  for (const model::LayerKind& kind : kinds)
    model.layers.push_back({fmt::format("layer{}", model.layers.size() + 1), kind});
  return {.name = std::string(name), .model = std::move(model), .learning_rate = 0.1f};
}

// Two residual blocks, the second with a shortcut of its own, and initial values by fan-in. A value has three
// readers, both operands of a sum are relus, and the last pool drops a row.
inline GoldenJob residual_job(ConvolutionRule rule) {
  using namespace model;
  const auto conv = [](int channels, int kernel, int stride) {
    return Conv2d{.out_channels = channels,
                  .kernel = {kernel, kernel},
                  .stride = {stride, stride},
                  .padding = {kernel / 2, kernel / 2},
                  .initial_weight = KaimingUniform{},
                  .initial_bias = Constant{0.01f}};
  };
  Model model{.name = "residual",
              .input = {1, 28, 28},
              .layers = {{"conv1", conv(16, 3, 2)},
                         {"relu1", Relu{}},
                         {"conv2", conv(16, 3, 1)},
                         {"relu2", Relu{}},
                         {"add1", Add{}, {"relu1", "relu2"}},
                         {"conv3", conv(17, 3, 2)},
                         {"relu3", Relu{}},
                         {"shortcut", conv(17, 1, 2), {"add1"}},
                         {"add2", Add{}, {"relu3", "shortcut"}},
                         {"pool1", AvgPool{{2, 2}, {2, 2}}},
                         {"flatten1", Flatten{}},
                         {"last", Linear{.out_units = 10, .initial_weight = XavierUniform{}}},
                         {"pool2", MaxPool{{4, 4}, {3, 3}}, {"relu1"}},
                         {"flatten2", Flatten{}},
                         {"last2", Linear{.out_units = 10, .initial_weight = XavierUniform{}}},
                         {"add3", Add{}, {"last", "last2"}}},
              .convolution = rule};
  return {.name = "residual",
          .model = std::move(model),
          .learning_rate = 0.02f,
          .optimizer = arithmetic::sgd_with_momentum(0.9f)};
}

// A residual block with batch norm over the minibatch and over groups, of which the last
// may be shorter; with a relu behind it and without, of the input, behind a sum, and of units.
inline GoldenJob batch_norm_job() {
  using namespace model;
  const auto conv = [](int channels, int stride) {
    return Conv2d{.out_channels = channels,
                  .kernel = {3, 3},
                  .stride = {stride, stride},
                  .padding = {1, 1},
                  .bias = false,
                  .initial_weight = KaimingUniform{}};
  };
  Model model{.name = "batch_norm",
              .input = {1, 28, 28},
              .layers = {{"bn1", BatchNorm{}},
                         {"conv1", conv(16, 2)},
                         {"bn2", BatchNorm{}},
                         {"relu1", Relu{}},
                         {"conv2", conv(16, 1)},
                         {"bn3", BatchNorm{.ghost = 48}},
                         {"relu2", Relu{}},
                         {"conv3", conv(16, 1)},
                         {"bn4", BatchNorm{.ghost = 32}},
                         {"add1", Add{}, {"relu1", "bn4"}},
                         {"bn5", BatchNorm{}},
                         {"relu3", Relu{}},
                         {"pool1", AvgPool{{2, 2}, {2, 2}}},
                         {"flatten1", Flatten{}},
                         {"linear1", Linear{.out_units = 20, .initial_weight = KaimingUniform{}}},
                         {"bn6", BatchNorm{.ghost = 16}},
                         {"relu4", Relu{}},
                         {"last", Linear{.out_units = 10, .initial_weight = XavierUniform{}}}},
              .convolution = arithmetic::ConvolutionRule::direct};
  return {.name = "batch_norm",
          .model = std::move(model),
          .learning_rate = 0.01f,
          .optimizer = {.kind = arithmetic::UpdateKind::adam}};
}

// A layer of each kind that has weights, updated by this rule.
inline GoldenJob update_job(std::string_view name, const arithmetic::Optimizer& optimizer) {
  using namespace model;
  GoldenJob job =
      small_job(name, {Conv2d{6, {5, 5}}, Relu{}, AvgPool{{2, 2}, {2, 2}}, Flatten{}, Linear{32}, Relu{}});
  job.optimizer = optimizer;
  return job;
}

// The root, the quotient and the double arithmetic of every step, on all machines.
inline GoldenJob adamw_job() {
  GoldenJob job = update_job("adamw", {.kind = arithmetic::UpdateKind::adamw, .weight_decay = 0.1});
  job.learning_rate = 0.01f;
  job.schedule = {.kind = arithmetic::ScheduleKind::cosine, .lr_min = 0.001, .warmup = 5};
  return job;
}

inline std::vector<GoldenJob> golden_jobs() {
  using enum ConvolutionRule;
  using namespace model;
  return {
      zoo_job("lenet", fast),
      zoo_job("lenet", direct),
      zoo_job("mlp", direct),
      update_job("momentum", arithmetic::sgd_with_momentum(0.9f)),
      update_job("nesterov",
                 {.kind = arithmetic::UpdateKind::nesterov, .momentum = 0.9f, .weight_decay = 0.01}),
      adamw_job(),
      // 16 to 16 and 16 to 32 channels: weight gradient B
      small_job("gradient_b", {Conv2d{16, {4, 4}, {2, 2}}, Relu{}, Conv2d{16, {3, 3}}, Relu{},
                               AvgPool{{2, 2}, {2, 2}}, Conv2d{32, {3, 3}}, Relu{}}),
      // wider than half the kernel, unequal on the two axes, and in front of a pool
      small_job("padding", {Conv2d{5, {5, 5}, {1, 1}, {2, 2}}, Relu{}, AvgPool{{2, 2}, {2, 2}},
                            Conv2d{7, {3, 5}, {1, 1}, {2, 1}}, Relu{}, AvgPool{{3, 3}, {2, 2}, {1, 1}}}),
      small_job("padding",
                {Conv2d{16, {3, 3}, {2, 2}, {1, 1}}, Relu{}, Conv2d{17, {3, 3}, {1, 1}, {1, 1}}, Relu{},
                 AvgPool{{2, 2}, {2, 2}}, Conv2d{20, {5, 5}, {1, 1}, {2, 2}}, Relu{}},
                fast),
      // as wide as the kernel, narrower, wider than it, and unequal on the two axes
      small_job("stride", {Conv2d{6, {3, 3}, {2, 2}}, Relu{}, Conv2d{9, {3, 2}, {1, 2}}, Relu{},
                           Conv2d{12, {2, 2}, {3, 2}}, Relu{}}),
      // windows that overlap, that are padded, and that drop the last row and column
      small_job("max_pool", {Conv2d{5, {3, 3}}, Relu{}, MaxPool{{3, 3}, {2, 2}, {1, 1}}, Conv2d{8, {3, 3}},
                             MaxPool{{2, 2}, {2, 2}}, Relu{}}),
      // of images whose last row and column a pool drops, and of units
      small_job("dropout", {Conv2d{6, {4, 4}}, Relu{}, Dropout{0.2}, AvgPool{{2, 2}, {2, 2}}, Flatten{},
                            Linear{50}, Relu{}, Dropout{0.5}}),
      batch_norm_job(),
      residual_job(direct),
      residual_job(fast),
      resnet18_job(),
  };
}

}  // namespace lockstep
