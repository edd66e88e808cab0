#include <algorithm>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "api/training.h"
#include "base/error.h"
#include "base/refusal_for_test.h"
#include "base/strange_floats_for_test.h"
#include "runs/run_config_file.h"
#include "train/checkpoint.h"

namespace lockstep {
inline namespace api {
namespace {

namespace fs = std::filesystem;

Dataset pictures_from_memory() {
  Pictures pictures{.channels = 1, .height = 28, .width = 28, .classes = 10};
  for (std::size_t i = 0; i < 60; ++i) {
    pictures.labels.push_back(static_cast<std::uint8_t>(i % 10));
    for (std::size_t p = 0; p < 784; ++p)
      pictures.pixels.push_back(static_cast<std::uint8_t>(i * 31 + p * 7));
  }
  return Dataset(pictures, pictures);
}

std::string content_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

class KeptRunTest : public testing::Test {
 protected:
  KeptRunTest() {
    std::string pattern = testing::TempDir() + "lockstep-kept-run-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~KeptRunTest() override { fs::remove_all(folder_); }

  // 3 steps an epoch.
  TrainOptions options(const std::string& run) const {
    return {.model = zoo_model("mlp"),
            .data = data_,
            .batch = 20,
            .lr = 0.1f,
            .epochs = 3,
            .momentum = 0.9f,
            .threads = 1,
            .run = folder_ / run};
  }

  fs::path folder_;
  const Dataset data_ = pictures_from_memory();
};

TEST_F(KeptRunTest, ARunThatIsStoppedGoesOnElsewhereWithTheSameBits) {
  const TrainResult whole = run_training(options("whole"));
  EXPECT_EQ(whole.run, folder_ / "whole");
  TrainOptions first = options("parted");
  first.checkpoint_every = 2;
  first.on_step = [](const FinishedStep& step) {
    if (step.step == 4) step.stop();
  };
  EXPECT_TRUE(run_training(first).stopped);
  TrainOptions second = options("parted");
  second.begin = Begin::resume;
  second.devices = "3xcpu";
  second.shard_optimizer = true;
  const TrainResult parted = run_training(second);
  EXPECT_FALSE(parted.stopped);
  EXPECT_EQ(parted.epochs.size(), 3U);
  EXPECT_EQ(parted.weights.hash(), whole.weights.hash());
  EXPECT_EQ(parted.warnings, whole.warnings);
  EXPECT_EQ(content_of(folder_ / "parted/hashes.csv"), content_of(folder_ / "whole/hashes.csv"));
  EXPECT_EQ(content_of(folder_ / "parted/weights.safetensors"),
            content_of(folder_ / "whole/weights.safetensors"));
  for (const char* file : {"config.toml", "results.csv", "metrics.jsonl", "curve.svg", "checkpoints"})
    EXPECT_TRUE(fs::exists(folder_ / "parted" / file)) << file;
}

TEST_F(KeptRunTest, MoreEpochsAreTheLongerRun) {
  const TrainResult longer = run_training(options("longer"));
  TrainOptions more = options("more");
  more.begin = Begin::resume_or_anew;
  more.epochs = 1;
  run_training(more);
  more.epochs = 3;
  std::vector<std::int64_t> steps;  // three an epoch, and none of them twice
  more.on_step = [&](const FinishedStep& step) { steps.push_back(step.step); };
  EXPECT_EQ(run_training(more).weights.hash(), longer.weights.hash());
  EXPECT_EQ(steps, (std::vector<std::int64_t>{4, 5, 6, 7, 8, 9}));
  more.epochs = 2;
  EXPECT_EQ(refusal_of(Fault::usage, [&] { run_training(more); }),
            "epochs: " + more.run.string() + " has begun 3 epochs, found 2");
}

// The rate that config.toml says is read and rounded again.
TEST_F(KeptRunTest, TheCallersFloatingPointEnvironmentChangesNoFile) {
  run_training(options("whole"));
  for (const StrangeFloats& floats : strange_floats()) {
    const InStrangeFloats strange(floats);
    TrainOptions parted = options(std::string(floats.name));
    parted.begin = Begin::resume_or_anew;
    for (const int epochs : {1, 3}) {
      parted.epochs = epochs;
      run_training(parted);
    }
    for (const char* file : {"weights.safetensors", "hashes.csv"})
      EXPECT_EQ(content_of(parted.run / file), content_of(folder_ / "whole" / file)) << floats.name;
  }
}

TEST_F(KeptRunTest, ACosineGoesOnToItsEndAndNotFurther) {
  const auto cosine = [&](const std::string& run) {
    TrainOptions o = options(run);
    o.momentum = std::nullopt;
    o.optimizer = "adam";
    o.schedule = "cosine";
    o.warmup = 2;
    return o;
  };
  const TrainResult whole = run_training(cosine("whole"));
  TrainOptions first = cosine("parted");
  first.on_step = [](const FinishedStep& step) {
    if (step.step == 4) step.stop();
  };
  EXPECT_TRUE(run_training(first).stopped);
  TrainOptions second = cosine("parted");
  second.begin = Begin::resume;
  second.devices = "2xcpu";
  TrainOptions longer = second;
  longer.epochs = 5;
  EXPECT_EQ(refusal_of(Fault::usage, [&] { run_training(longer); }),
            "epochs: the schedule cosine of " + second.run.string() +
                " ends with epoch 3, found 5; leave epochs as it was");
  EXPECT_EQ(run_training(second).weights.hash(), whole.weights.hash());
}

TEST_F(KeptRunTest, ARunOfAnotherJobIsRefusedAndNothingChanges) {
  run_training(options("run"));
  const std::string config = content_of(folder_ / "run/config.toml");
  const auto refusal = [&](auto change) {
    TrainOptions other = options("run");
    other.begin = Begin::resume;
    change(other);
    return refusal_of(Fault::usage, [&] { run_training(other); });
  };
  const std::string run = (folder_ / "run").string();
  EXPECT_EQ(refusal([](TrainOptions& o) { o.lr = 0.2f; }), "lr: expected 0.1 as " + run + " says, found 0.2");
  EXPECT_EQ(refusal([](TrainOptions& o) { o.seed = 7; }), "seed: expected 0 as " + run + " says, found 7");
  EXPECT_EQ(refusal([](TrainOptions& o) { o.batch = 30; }),
            "batch: expected 20 as " + run + " says, found 30");
  EXPECT_EQ(refusal([](TrainOptions& o) { o.momentum = 0.5f; }),
            "momentum: expected 0.9 as " + run + " says, found 0.5");
  EXPECT_EQ(refusal([](TrainOptions& o) { o.optimizer = "nesterov"; }),
            "optimizer: expected momentum as " + run + " says, found nesterov");
  EXPECT_EQ(refusal([](TrainOptions& o) { o.weight_decay = 0.5; }),
            "weight_decay: expected 0 as " + run + " says, found 0.5");
  EXPECT_EQ(refusal([](TrainOptions& o) { o.schedule = "cosine"; }),
            "schedule: expected constant as " + run + " says, found cosine");
  EXPECT_EQ(refusal([](TrainOptions& o) { o.warmup = 3; }),
            "warmup: expected 0 as " + run + " says, found 3");
  EXPECT_THAT(refusal([](TrainOptions& o) { o.begin = Begin::anew; }), testing::HasSubstr(run));
  EXPECT_EQ(refusal([](TrainOptions& o) { o.run = ""; }),
            "begin: expected a directory in `run` to take up again, found none");
  TrainOptions other = options("run");
  other.begin = Begin::resume;
  Pictures changed{.channels = 1, .height = 28, .width = 28, .classes = 10};
  changed.labels.assign(60, 1);
  changed.pixels.assign(60 * 784, 9);
  other.data = Dataset(changed, changed);
  EXPECT_THAT(refusal_of(Fault::data, [&] { run_training(other); }),
              testing::HasSubstr("give the data that the run was trained on"));
  EXPECT_EQ(content_of(folder_ / "run/config.toml"), config);
}

TEST_F(KeptRunTest, AModelOfItsOwnGoesOnOnlyWithTheSameLayers) {
  TrainOptions own = options("own");
  own.model = Model{.name = "mine", .layers = {Flatten{}, Linear{12}, Relu{}, Linear{10}}};
  own.epochs = 1;
  run_training(own);
  own.begin = Begin::resume;
  own.epochs = 2;
  EXPECT_EQ(run_training(own).epochs.size(), 2U);
  const store::RunConfig config = runs::read_config(own.run / "config.toml");
  EXPECT_EQ(config.job.layers.size(), 32U);
  EXPECT_THAT(refusal_of(Fault::usage, [&] { train::model_of(config.job); }),
              testing::HasSubstr("through the library"));
  own.model.layers[1] = Linear{13};
  EXPECT_THAT(refusal_of(Fault::usage, [&] { run_training(own); }), testing::HasSubstr("other layers"));
}

// The program can take it up, too, because config.toml says the ghost.
TEST_F(KeptRunTest, LockstepsOwnModelWithAGhostIsStillItsOwn) {
  const auto set_ghosts = [](Model& model, int ghost) {
    for (Layer& layer : model.layers)
      if (auto* const norm = std::get_if<BatchNorm>(&layer.kind)) norm->ghost = ghost;
  };
  TrainOptions ghosts = options("ghosts");
  ghosts.model = zoo_model("resnet8");
  set_ghosts(ghosts.model, 16);
  ghosts.lr = 0.01f;
  ghosts.epochs = 1;
  run_training(ghosts);
  const store::RunConfig config = runs::read_config(ghosts.run / "config.toml");
  EXPECT_EQ(config.job.layers, "");
  EXPECT_EQ(config.job.ghost, 16);
  ghosts.begin = Begin::resume;
  ghosts.epochs = 2;
  EXPECT_EQ(run_training(ghosts).epochs.size(), 2U);
  set_ghosts(ghosts.model, 0);
  EXPECT_EQ(refusal_of(Fault::usage, [&] { run_training(ghosts); }),
            "ghost: expected 16 as " + ghosts.run.string() + " says, found 0");
}

TEST_F(KeptRunTest, WhatWasDamagedIsAWarning) {
  TrainOptions run = options("run");
  run.checkpoint_every = 1;
  run_training(run);
  fs::path newest;
  for (const fs::directory_entry& entry : fs::directory_iterator(run.run / "checkpoints"))
    newest = std::max(newest, entry.path());
  fs::resize_file(newest, fs::file_size(newest) - 1);
  run.begin = Begin::resume;
  const TrainResult result = run_training(run);
  ASSERT_EQ(result.warnings.size(), 2U);
  EXPECT_THAT(result.warnings[0], testing::StartsWith("skipped " + newest.string()));
  EXPECT_THAT(result.warnings[1], testing::HasSubstr(".damaged"));
}

}  // namespace
}  // namespace api
}  // namespace lockstep
