#include "runs/weights_file.h"

#include <string>

#include <gtest/gtest.h>

#include "arithmetic/convolution_rule.h"
#include "model/zoo.h"

namespace lockstep::runs {
namespace {

store::TensorFile file_of_mlp() {
  const model::Model model = model::mlp();
  return weights_file(model, {.job = {.model = "mlp"}}, train::initial_weights(model, 7), 3);
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

}  // namespace
}  // namespace lockstep::runs
