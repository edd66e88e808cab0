// Golden hashes: the weights after some steps on Fashion-MNIST (20 unless the job says so), the same on every
// machine. They are the proof that instruction sets agree when they are never at hand together.
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "cpu/cpu_device.h"
#include "cpu/kernels.h"
#include "data/shuffle.h"
#include "golden_jobs.h"
#include "program/compile.h"
#include "reference/step.h"
#include "reference/update.h"
#include "reference/update_scalars.h"
#include "train/job.h"

namespace lockstep {
namespace {

using reference::Tensor;

constexpr int kEpoch = 1;
constexpr std::uint64_t kSeed = 0;

const data::Split& fashion_mnist() {
  static const data::Split split = data::load_mnist_like(data::default_fashion_mnist_directory());
  return split;
}

std::string golden(const std::string& name) {
  std::ifstream file(std::filesystem::path(LOCKSTEP_SOURCE_DIR) / "tests/golden" / name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Runs steps of the first epoch of seed 0 and gives the weights after each.
class Steps {
 public:
  Steps(const GoldenJob& job, device::Device& device, device::Order order)
      : order_(data::epoch_order(kSeed, kEpoch, static_cast<std::uint32_t>(fashion_mnist().train.size()))),
        batch_(job.batch),
        runner_(device,
                run::data_parallel(program::compile_training(job.model, {.rule = job.optimizer.kind}), {}),
                {.most_examples = static_cast<int>(job.batch), .order = order}),
        scalars_(job.optimizer, job.schedule, job.learning_rate, {job.steps, 1}) {
    runner_.upload(train::initial_weights(job.model, kSeed));
  }

  std::span<const std::uint32_t> examples(int step) const {
    return std::span(order_).subspan(static_cast<std::size_t>(step) * batch_, batch_);
  }
  run::Weights weights_after(int steps) {
    const data::Dataset& set = fashion_mnist().train;
    for (; done_ < steps; ++done_) {
      const run::StepResult result =
          runner_.step({.minibatch = {set.pixels.data(), set.labels.data(), examples(done_)},
                        .update = scalars_.at(done_ + 1),
                        .step = done_ + 1,
                        .epoch = kEpoch,
                        .seed = kSeed});
      EXPECT_TRUE(result.finite);
    }
    return runner_.download();
  }

 private:
  const std::vector<std::uint32_t> order_;
  const std::size_t batch_;
  run::Runner runner_;
  arithmetic::StepScalars scalars_;
  int done_ = 0;
};

// The naive twin of the same job.
class TwinSteps {
 public:
  explicit TwinSteps(const GoldenJob& job)
      : job_(job), weights_(reference::initial_parameters(job.model, kSeed)) {
    const std::size_t states = arithmetic::update_rule(job.optimizer.kind).states.size();
    for (const Tensor& w : weights_) states_.emplace_back(states, Tensor(w.size(), 0.0f));
  }

  const std::vector<Tensor>& step(std::span<const std::uint32_t> examples) {
    const data::Dataset& set = fashion_mnist().train;
    std::vector<float> images;
    std::vector<std::uint8_t> labels;
    for (const std::uint32_t e : examples) {
      for (const std::uint8_t pixel : set.example(e)) images.push_back(static_cast<float>(pixel) / 255.0f);
      labels.push_back(set.labels[e]);
    }
    reference::Step step = reference::train_step(
        job_.model, weights_, {images, labels, {kSeed, kEpoch, {examples.begin(), examples.end()}}},
        job_.learning_rate);
    const arithmetic::UpdateScalars scalars = reference::update_scalars(
        {job_.optimizer, job_.schedule, job_.learning_rate, job_.steps, 1}, ++steps_);
    const std::vector<model::Parameter> parameters = model::parameters_of(job_.model);
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      if (parameters[i].trained()) {
        reference::update(job_.optimizer.kind, weights_[i], states_[i], step.gradients[i],
                          reference::scalars_for(job_.model, parameters[i], scalars));
      } else {
        weights_[i] = std::move(step.parameters[i]);
      }
    }
    return weights_;
  }

 private:
  const GoldenJob& job_;
  std::vector<Tensor> weights_;
  std::vector<std::vector<Tensor>> states_;  // by parameter
  int steps_ = 0;
};

void expect_golden(const GoldenJob& job, const cpu::Kernels& kernels, int threads, device::Order order) {
  SCOPED_TRACE(testing::Message() << kernels.name << ", " << threads << " threads");
  const auto device = cpu::make_cpu_device({.threads = threads, .target = std::string(kernels.name)});
  Steps steps(job, *device, order);
  EXPECT_EQ(to_hex(train::hash_of(steps.weights_after(job.steps))) + "\n", golden(job.file()));
}

class Golden : public testing::TestWithParam<GoldenJob> {};

TEST_P(Golden, StepsGiveTheCommittedHashOnEveryKernelRow) {
  for (const cpu::Kernels* kernels : cpu::usable_kernels())
    expect_golden(GetParam(), *kernels, 2, device::Order::pack);
}

TEST_P(Golden, ThreadsAndOrderChangeNoBit) {
  for (const cpu::Kernels* kernels : cpu::usable_kernels()) {
    expect_golden(GetParam(), *kernels, 1, device::Order::pack);
    for (const int threads : {1, 2}) expect_golden(GetParam(), *kernels, threads, device::Order::layer);
  }
}

TEST_P(Golden, FirstStepsAreTheNaiveTwins) {
  const auto device = cpu::make_cpu_device({.threads = 2});
  Steps steps(GetParam(), *device, device::Order::pack);
  TwinSteps twin(GetParam());
  for (int step = 0; step < GetParam().twin_steps; ++step) {
    const std::string expected = to_hex(train::hash_of(twin.step(steps.examples(step))));
    EXPECT_EQ(to_hex(train::hash_of(steps.weights_after(step + 1))), expected) << "step " << step + 1;
  }
}

INSTANTIATE_TEST_SUITE_P(Jobs, Golden, testing::ValuesIn(golden_jobs()), [](const auto& instance) {
  return fmt::format("{}_{}", instance.param.name, arithmetic::name_of(instance.param.model.convolution));
});

}  // namespace
}  // namespace lockstep
