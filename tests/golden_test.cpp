// The golden hash: the weights after 20 steps on Fashion-MNIST, the same on every machine. It is the proof
// that instruction sets agree when they are never at hand together.
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "arithmetic/convolution_rule.h"
#include "arithmetic/reference/step.h"
#include "data/shuffle.h"
#include "device/cpu/cpu_device.h"
#include "device/cpu/kernels.h"
#include "model/zoo.h"
#include "program/compile.h"
#include "train/job.h"

namespace lockstep {
namespace {

constexpr std::size_t kBatch = 256;
constexpr float kLearningRate = 0.2f;
constexpr int kSteps = 20;

const data::Split& fashion_mnist() {
  static const data::Split split = data::load_mnist_like(data::default_fashion_mnist_directory());
  return split;
}

std::string golden(const std::string& name) {
  std::ifstream file(std::string(LOCKSTEP_SOURCE_DIR) + "/tests/golden/" + name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Runs steps of the first epoch of seed 0 and gives the weights after each.
class Steps {
 public:
  Steps(const model::Model& model, device::Device& device, device::Order order)
      : order_(data::epoch_order(0, 1, static_cast<std::uint32_t>(fashion_mnist().train.size()))),
        runner_(device, program::compile_training(model), {.most_examples = kBatch, .order = order}) {
    runner_.upload(train::initial_weights(model, 0));
  }

  std::span<const std::uint32_t> examples(int step) const {
    return std::span(order_).subspan(static_cast<std::size_t>(step) * kBatch, kBatch);
  }
  run::Weights weights_after(int steps) {
    const data::Dataset& set = fashion_mnist().train;
    for (; done_ < steps; ++done_) {
      const run::StepResult result =
          runner_.step({{set.pixels.data(), set.labels.data(), examples(done_)}, kLearningRate});
      EXPECT_TRUE(result.finite);
    }
    return runner_.download();
  }

 private:
  const std::vector<std::uint32_t> order_;
  run::Runner runner_;
  int done_ = 0;
};

using enum arithmetic::ConvolutionRule;
constexpr std::pair<std::string_view, arithmetic::ConvolutionRule> kGolden[] = {
    {"lenet", fast}, {"lenet", direct}, {"mlp", direct}};

model::Model golden_model(std::string_view name, arithmetic::ConvolutionRule rule) {
  model::Model model = model::zoo_model(name);
  model.convolution = rule;
  return model;
}

TEST(Golden, TwentyStepsGiveTheCommittedHashOnEveryKernelRow) {
  for (const auto& [name, rule] : kGolden) {
    const model::Model model = golden_model(name, rule);
    for (const device::cpu::Kernels* kernels : device::cpu::usable_kernels()) {
      for (const int threads : {1, 2}) {
        for (const device::Order order : {device::Order::pack, device::Order::layer}) {
          SCOPED_TRACE(testing::Message() << name << " " << arithmetic::name_of(rule) << ", " << kernels->name
                                          << ", " << threads << " threads");
          const auto device =
              device::cpu::make_cpu_device({.threads = threads, .target = std::string(kernels->name)});
          Steps steps(model, *device, order);
          EXPECT_EQ(to_hex(train::hash_of(steps.weights_after(kSteps))) + "\n",
                    golden(fmt::format("{}-{}.txt", name, arithmetic::name_of(rule))));
        }
      }
    }
  }
}

class GoldenLeNet : public testing::TestWithParam<arithmetic::ConvolutionRule> {};

TEST_P(GoldenLeNet, FirstStepsAreTheNaiveTwins) {
  const model::Model model = golden_model("lenet", GetParam());
  const auto device = device::cpu::make_cpu_device({.threads = 2});
  Steps steps(model, *device, device::Order::pack);
  const data::Dataset& set = fashion_mnist().train;
  std::vector<arithmetic::reference::Tensor> weights = arithmetic::reference::initial_parameters(model, 0);
  for (int step = 0; step < 2; ++step) {
    std::vector<float> images;
    std::vector<std::uint8_t> labels;
    for (const std::uint32_t e : steps.examples(step)) {
      for (const std::uint8_t pixel : set.example(e)) images.push_back(static_cast<float>(pixel) / 255.0f);
      labels.push_back(set.labels[e]);
    }
    weights = arithmetic::reference::train_step(model, weights, {images, labels}, kLearningRate).parameters;
    EXPECT_EQ(to_hex(train::hash_of(steps.weights_after(step + 1))), to_hex(train::hash_of(weights)));
  }
}

INSTANTIATE_TEST_SUITE_P(Rules, GoldenLeNet, testing::Values(fast, direct), [](const auto& instance) {
  return std::string(arithmetic::name_of(instance.param));
});

}  // namespace
}  // namespace lockstep
