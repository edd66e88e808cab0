#include "arithmetic/convolution_rule.h"

#include <gtest/gtest.h>

namespace lockstep::arithmetic {
namespace {

// Configs and checkpoints hold these words.
TEST(ConvolutionRule, NamesAreFixed) {
  EXPECT_EQ(name_of(ConvolutionRule::fast), "fast");
  EXPECT_EQ(name_of(ConvolutionRule::direct), "direct");
  EXPECT_EQ(convolution_rule_names(), (std::vector<std::string>{"fast", "direct"}));
}

TEST(ConvolutionRule, IsFoundByItsWholeNameAlone) {
  EXPECT_EQ(convolution_rule_named("fast"), ConvolutionRule::fast);
  EXPECT_EQ(convolution_rule_named("direct"), ConvolutionRule::direct);
  for (const char* name : {"", "fas", "Fast", "direct ", "winograd"})
    EXPECT_EQ(convolution_rule_named(name), std::nullopt) << name;
}

}  // namespace
}  // namespace lockstep::arithmetic
