#include "train/check_groups.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "cpu/cpu_device.h"
#include "train/training_runner.h"

namespace lockstep::train {
namespace {

// A batch norm on an image, and one on single values.
model::Model model_with(int ghost) {
  return {.name = "normed",
          .input = {1, 3, 3},
          .layers = {{"conv1", model::Conv2d{2, {2, 2}}},
                     {"bn1", model::BatchNorm{ghost}},
                     {"flatten1", model::Flatten{}},
                     {"linear1", model::Linear{3}},
                     {"bn2", model::BatchNorm{}},
                     {"linear2", model::Linear{2}}}};
}

std::string refusal(const model::Model& model, int batch, std::size_t examples) {
  try {
    check_groups(model, batch, examples);
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage);
    return error.what();
  }
  return {};
}

TEST(CheckGroups, AGhostLargerThanTheMinibatchIsRefused) {
  EXPECT_EQ(refusal(model_with(64), 64, 640), "");
  EXPECT_EQ(
      refusal(model_with(64), 48, 480),
      "layer bn1: ghost 64 is larger than a minibatch of 48 examples; choose a larger --batch or a smaller "
      "ghost");
  EXPECT_NE(refusal(model_with(64), 64, 50), "") << "no minibatch has more than the examples";
  EXPECT_EQ(refusal(model_with(64), 64, 640 + 17), "") << "a smaller last minibatch is a shorter group";
}

TEST(CheckGroups, OneValueForAChannelIsRefused) {
  EXPECT_EQ(refusal(model_with(0), 64, 65),
            "layer bn2: the last group of a minibatch of 1 is one example, and one value has no variance; "
            "choose another --batch");
  EXPECT_EQ(refusal(model_with(0), 64, 66), "");
  EXPECT_NE(refusal(model_with(0), 1, 10), "");
  model::Model model = model_with(0);
  model.layers.erase(model.layers.begin() + 4);
  EXPECT_EQ(refusal(model, 64, 65), "") << "an image has several values for a channel";
  EXPECT_EQ(refusal(model, 1, 10), "");
  model = model_with(0);
  std::get<model::BatchNorm>(model.layers[4].kind).ghost = 16;
  EXPECT_NE(refusal(model, 49, 49), "") << "three groups of 16 and one of 1";
  EXPECT_EQ(refusal(model, 48, 96 + 18), "");
}

TEST(CheckGroups, NoTrainingBeginsWithThem) {
  run::Crew crew(cpu::make_cpu_devices({.names = {"cpu:0"}, .threads = 1, .bind = false}), {});
  EXPECT_THROW(make_training_runner(crew, {.model = model_with(0), .batch = 64}, {}, 65), Error);
  EXPECT_NO_THROW(make_training_runner(crew, {.model = model_with(0), .batch = 64}, {}, 66));
}

}  // namespace
}  // namespace lockstep::train
