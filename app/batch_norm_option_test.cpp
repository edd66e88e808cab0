#include "batch_norm_option.h"

#include <CLI/CLI.hpp>
#include <gtest/gtest.h>

#include "base/refusal_for_test.h"
#include "model/zoo.h"

namespace lockstep::app {
namespace {

using Kind = BatchNormForm::Kind;

std::optional<BatchNormForm> parsed_form(const std::string& arguments) {
  CLI::App parser;
  std::optional<BatchNormForm> form;
  add_batch_norm(parser, form);
  parser.parse(arguments);
  return form;
}

int device_ghost(int batch, std::size_t devices) {
  return ghost_of({Kind::device}, model::resnet8(), {batch, devices});
}

TEST(BatchNormOption, TakesEveryFormAndIsNothingUnlessGiven) {
  EXPECT_FALSE(parsed_form(""));
  EXPECT_EQ(parsed_form("--batch-norm sync").value_or(BatchNormForm{Kind::device}).kind, Kind::sync);
  EXPECT_EQ(parsed_form("--batch-norm device").value_or(BatchNormForm{}).kind, Kind::device);
  const BatchNormForm ghost = parsed_form("--batch-norm=ghost:48").value_or(BatchNormForm{});
  EXPECT_EQ(ghost.kind, Kind::ghost);
  EXPECT_EQ(ghost.ghost, 48);
}

TEST(BatchNormOption, RefusesOtherFormsAndGroupsThatAreNotWholePacks) {
  const auto refusal = [](const std::string& text) {
    return refusal_of(Fault::usage, [&] { batch_norm_form(text); });
  };
  EXPECT_EQ(refusal("snyc"), "--batch-norm: there is no 'snyc'; did you mean 'sync'?");
  EXPECT_EQ(refusal("ghost:24"), "--batch-norm ghost: expected a multiple of 16 examples, found '24'");
  for (const char* text :
       {"ghost", "ghost:", "ghost:N", "ghost:0", "ghost:10", "ghost:-16", "ghost:1000016"}) {
    const std::string why = refusal(text);
    EXPECT_TRUE(why.starts_with("--batch-norm")) << why;
  }
}

TEST(BatchNormOption, ADevicesPartIsWholePacks) {
  EXPECT_EQ(device_ghost(256, 2), 128);
  EXPECT_EQ(device_ghost(256, 3), 96) << "86 examples in whole packs";
  EXPECT_EQ(device_ghost(256, 16), 16);
  EXPECT_EQ(device_ghost(256, 40), 16);
}

TEST(BatchNormOption, APartThatIsTheWholeMinibatchIsSync) {
  EXPECT_EQ(device_ghost(256, 1), 0);
  EXPECT_EQ(device_ghost(100, 1), 0);
  EXPECT_EQ(device_ghost(16, 2), 0);
  EXPECT_EQ(device_ghost(17, 2), 16);
}

TEST(BatchNormOption, OtherFormsDoNotDependOnTheDevices) {
  for (const std::size_t devices : {1U, 3U}) {
    EXPECT_EQ(ghost_of({Kind::sync}, model::resnet8(), {256, devices}), 0);
    EXPECT_EQ(ghost_of({Kind::ghost, 48}, model::resnet8(), {256, devices}), 48);
  }
}

TEST(BatchNormOption, EveryFormIsRefusedForAModelWithoutBatchNorm) {
  for (const BatchNormForm& form :
       {BatchNormForm{Kind::sync}, BatchNormForm{Kind::ghost, 48}, BatchNormForm{Kind::device}}) {
    EXPECT_EQ(refusal_of(Fault::usage,
                         [&] {
                           ghost_of(form, model::lenet(), {256, 2});
                         }),
              "--batch-norm: model lenet has no batch norm; leave it out");
  }
}

TEST(BatchNormOption, TheTextOfAGhostIsAForm) {
  EXPECT_EQ(batch_norm_text(0), "sync");
  EXPECT_EQ(batch_norm_text(48), "ghost:48");
}

}  // namespace
}  // namespace lockstep::app
