#include "weights_file.h"

#include <string>

#include <gtest/gtest.h>

#include "arithmetic/convolution_rule.h"
#include "base/refusal_for_test.h"
#include "model/zoo.h"

namespace lockstep::app {
namespace {

store::TensorFile file_of_mlp() {
  const model::Model model = model::mlp();
  return weights_file(model, {.job = {.model = "mlp"}}, train::initial_weights(model, 7), 3);
}

std::string refusal_of(const store::TensorFile& file) {
  return refusal_of(Fault::data, [&] { weights_in(file, model::mlp(), "w.safetensors"); });
}

TEST(WeightsFile, GivesTheWeightsBackWhateverTheirOrder) {
  store::TensorFile file = file_of_mlp();
  std::swap(file.tensors.front(), file.tensors.back());
  EXPECT_EQ(weights_in(file, model::mlp(), "w.safetensors"), train::initial_weights(model::mlp(), 7));
}

TEST(WeightsFile, SaysWhatTheWeightsAre) {
  const store::RunConfig config{.job = {.model = "mlp"}};
  const std::map<std::string, std::string> expected{
      {"model", "mlp"},
      {"convolution", std::string(arithmetic::name_of(config.job.convolution))},
      {"law", "1"},
      {"job", to_hex(store::job_hash(config))},
      {"weights", to_hex(train::hash_of(train::initial_weights(model::mlp(), 7)))},
      {"epochs", "3"}};
  EXPECT_EQ(file_of_mlp().metadata, expected);
}

TEST(WeightsFile, SaysHowTheModelComputesConvolutions) {
  for (const arithmetic::NamedConvolutionRule& named : arithmetic::kConvolutionRules) {
    model::Model model = model::mlp();
    model.convolution = named.rule;
    EXPECT_EQ(weights_file(model, {}, train::initial_weights(model, 7), 3).metadata.at("convolution"),
              named.name);
  }
}

TEST(WeightsFile, RefusesAnotherShape) {
  store::TensorFile file = file_of_mlp();
  file.tensors[0].shape = {784, 256};
  EXPECT_EQ(
      refusal_of(file),
      "w.safetensors: tensor \"linear1.weight\": expected shape [256, 784] for model mlp, found [784, 256]");
}

TEST(WeightsFile, RefusesAMissingTensor) {
  store::TensorFile file = file_of_mlp();
  file.tensors.erase(file.tensors.begin() + 1);
  EXPECT_EQ(
      refusal_of(file),
      "w.safetensors: tensor \"linear1.bias\": expected shape [256] for model mlp, found no such tensor");
}

TEST(WeightsFile, RefusesATensorTooMany) {
  store::TensorFile file = file_of_mlp();
  file.tensors.push_back({.name = "linear3.bias", .shape = {1}, .values = {0}});
  EXPECT_EQ(refusal_of(file),
            "w.safetensors: expected only the parameters of model mlp, found the tensor \"linear3.bias\"");
}

}  // namespace
}  // namespace lockstep::app
