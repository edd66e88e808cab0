#include "convolution_option.h"

#include <CLI/CLI.hpp>
#include <gtest/gtest.h>

#include "arithmetic/convolution_rule.h"
#include "base/error.h"
#include "model/model.h"

namespace lockstep::app {
namespace {

using arithmetic::ConvolutionRule;

std::optional<ConvolutionRule> parsed(const std::string& arguments) {
  CLI::App parser;
  std::optional<ConvolutionRule> rule;
  add_convolution(parser, rule);
  parser.parse(arguments);
  return rule;
}

TEST(ConvolutionOption, TakesEveryNameAndIsNothingUnlessGiven) {
  EXPECT_EQ(parsed(""), std::nullopt);
  EXPECT_EQ(parsed("--convolution fast"), ConvolutionRule::fast);
  EXPECT_EQ(parsed("--convolution=direct"), ConvolutionRule::direct);
}

TEST(ConvolutionOption, RefusesOtherNamesWithTheNearest) {
  try {
    parsed("--convolution dirct");
    FAIL() << "taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage);
    EXPECT_EQ(std::string(error.what()), "--convolution: there is no 'dirct'; did you mean 'direct'?");
  }
}

TEST(ConvolutionOption, HelpSaysTheModelsDefault) {
  CLI::App parser;
  std::optional<ConvolutionRule> rule;
  const std::string words = add_convolution(parser, rule)->get_description();
  const std::string expected =
      "(default " + std::string(arithmetic::name_of(model::Model{}.convolution)) + ")";
  EXPECT_TRUE(words.ends_with(expected)) << words;
}

}  // namespace
}  // namespace lockstep::app
