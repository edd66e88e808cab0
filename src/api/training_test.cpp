#include "api/training.h"

#include <limits>
#include <set>

#include <gtest/gtest.h>
#include <lockstep/evaluate.h>

#include "api/convert.h"
#include "api/dataset_inside.h"
#include "api/pictures_for_test.h"
#include "base/refusal_for_test.h"
#include "base/same_bits_for_test.h"
#include "base/strange_floats_for_test.h"
#include "cpu/cpu_device.h"
#include "model/zoo.h"
#include "train/trainer.h"

namespace lockstep {
inline namespace api {
namespace {

TEST(Train, GivesTheTrainersWeights) {
  const Dataset data = some_data();
  const auto device = cpu::make_cpu_device({.threads = 1});
  const train::TrainResult expected = train::train({.model = model::lenet(),
                                                    .seed = 5,
                                                    .batch = 48,
                                                    .learning_rate = 0.1f,
                                                    .epochs = 2,
                                                    .optimizer = arithmetic::sgd_with_momentum(0.5f)},
                                                   data.inside().split, *device);
  const TrainResult found = run_training(
      {.data = data, .devices = "2xcpu", .batch = 48, .lr = 0.1f, .epochs = 2, .momentum = 0.5f, .seed = 5});
  EXPECT_EQ(found.weights.hash(), to_hex(train::hash_of(expected.weights)));
  ASSERT_EQ(found.epochs.size(), 2U);
  EXPECT_EQ(found.accuracy(), expected.epochs.back().test_accuracy());
  EXPECT_THAT(found.epochs[0].train_loss, SameBits(expected.epochs[0].train_loss));
  EXPECT_EQ(found.devices, (std::vector<std::string>{"cpu:0", "cpu:1"}));
}

TEST(Train, UpdatesAsTheTrainerDoes) {
  const Dataset data = some_data();
  const auto device = cpu::make_cpu_device({.threads = 1});
  const train::TrainResult expected =
      train::train({.model = model::mlp(),
                    .batch = 48,
                    .learning_rate = 0.001f,
                    .epochs = 2,
                    .optimizer = {.kind = arithmetic::UpdateKind::adamw, .weight_decay = 0.05, .beta1 = 0.8},
                    .schedule = {.kind = arithmetic::ScheduleKind::cosine, .warmup = 1}},
                   data.inside().split, *device);
  const TrainResult found = run_training({.model = zoo_model("mlp"),
                                          .data = data,
                                          .devices = "2xcpu",
                                          .batch = 48,
                                          .epochs = 2,
                                          .optimizer = "adamw",
                                          .weight_decay = 0.05,
                                          .beta1 = 0.8,
                                          .schedule = "cosine",
                                          .warmup = 1,
                                          .shard_optimizer = true});
  EXPECT_EQ(found.weights.hash(), to_hex(train::hash_of(expected.weights)));
}

TEST(Train, RefusesAnUpdateThatCannotBe) {
  const Dataset data = some_data();
  const auto refusal = [&](auto change) {
    TrainOptions options{.data = data};
    change(options);
    return refusal_of(Fault::usage, [&] { run_training(options); });
  };
  EXPECT_EQ(refusal([](TrainOptions& o) { o.optimizer = "adem"; }),
            "optimizer: there is no 'adem'; did you mean 'adam'?");
  EXPECT_EQ(refusal([](TrainOptions& o) { o.schedule = "cosin"; }),
            "schedule: there is no 'cosin'; did you mean 'cosine'?");
  EXPECT_EQ(refusal([](TrainOptions& o) {
              o.optimizer = "adam";
              o.momentum = 0.9f;
            }),
            "momentum: the optimizer adam takes none; leave it out or choose momentum or nesterov");
  EXPECT_EQ(refusal([](TrainOptions& o) { o.weight_decay = -1; }),
            "weight_decay: expected a finite number from 0, found -1");
  EXPECT_EQ(refusal([](TrainOptions& o) { o.step_epochs = 2; }),
            "step_epochs: the schedule constant takes none; leave it out or choose step");
  EXPECT_EQ(refusal([](TrainOptions& o) {
              o.schedule = "cosine";
              o.warmup = 1'000'000;
            }).substr(0, 15),
            "schedule cosine");
}

TEST(Train, ComputesConvolutionsAsTheModelSays) {
  const Dataset data = some_data();
  const auto device = cpu::make_cpu_device({.threads = 1});
  std::set<std::string> hashes;
  for (const Convolution convolution : {Convolution::fast, Convolution::direct}) {
    Model model = lenet();
    model.convolution = convolution;
    const train::TrainResult expected =
        train::train({.model = to_inside(model), .batch = 50, .epochs = 1}, data.inside().split, *device);
    const TrainResult found = run_training({.model = model, .data = data, .batch = 50, .epochs = 1});
    EXPECT_EQ(found.weights.hash(), to_hex(train::hash_of(expected.weights)));
    EXPECT_THAT(evaluate({.model = model, .weights = found.weights, .data = data}).loss,
                SameBits(static_cast<double>(expected.epochs.back().test_loss)));
    hashes.insert(found.weights.hash());
  }
  EXPECT_EQ(hashes.size(), 2U);
}

TEST(Train, DevicesAndExchangeDoNotChangeABit) {
  const Dataset data = some_data();
  const std::string expected = run_training({.data = data, .batch = 50, .epochs = 1}).weights.hash();
  for (const char* devices : {"3", "cpu:0+cpu:5", "5xcpu"}) {
    for (const char* exchange : {"sharded", "star"}) {
      EXPECT_EQ(
          run_training({.data = data, .devices = devices, .batch = 50, .epochs = 1, .exchange = exchange})
              .weights.hash(),
          expected)
          << devices << ", " << exchange;
    }
  }
}

TEST(Train, GoesOnFromGivenWeights) {
  const Dataset data = some_data();
  const Weights start = initial_weights(lenet(), 9);
  EXPECT_EQ(run_training({.data = data, .batch = 50, .epochs = 1, .seed = 9}).weights.hash(),
            run_training({.data = data, .batch = 50, .epochs = 1, .seed = 9, .start = start}).weights.hash());
  EXPECT_NE(run_training({.data = data, .batch = 50, .epochs = 1, .seed = 1, .start = start}).weights.hash(),
            run_training({.data = data, .batch = 50, .epochs = 1, .seed = 1}).weights.hash());
}

TEST(Train, TellsOfEachEpoch) {
  std::vector<int> told;
  const TrainResult result =
      run_training({.data = some_data(), .epochs = 3, .on_epoch = [&](const Epoch& epoch) {
                      told.push_back(epoch.epoch);
                    }});
  EXPECT_EQ(told, (std::vector{1, 2, 3}));
  EXPECT_EQ(result.epochs.size(), 3U);
}

// All that is computed, whatever the calling program has set, before or while it is told of an epoch.
TEST(Train, TheCallersFloatingPointEnvironmentChangesNothing) {
  const Dataset data = some_data();
  const auto train = [&](const std::function<void(const Epoch&)>& on_epoch) {
    return run_training(
        {.data = data, .devices = "2", .batch = 30, .lr = 0.1f, .epochs = 2, .on_epoch = on_epoch});
  };
  const auto expect_same = [](const TrainResult& found, const TrainResult& expected) {
    EXPECT_EQ(found.weights.hash(), expected.weights.hash());
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_THAT(found.epochs.at(i).train_loss, SameBits(expected.epochs.at(i).train_loss));
      EXPECT_THAT(found.epochs.at(i).test_loss, SameBits(expected.epochs.at(i).test_loss));
      EXPECT_THAT(found.epochs.at(i).accuracy, SameBits(expected.epochs.at(i).accuracy));
    }
  };
  const TrainResult expected = train(nullptr);
  const std::string start = initial_weights(lenet(), 3).hash();
  const Evaluation evaluated = evaluate({.weights = expected.weights, .data = data});
  for (const StrangeFloats& floats : strange_floats()) {
    SCOPED_TRACE(floats.name);
    TrainResult from_start, from_callback;
    Evaluation evaluation;
    {
      const InStrangeFloats strange(floats);
      bool own_in_callback = false;
      from_start = train([&](const Epoch&) { own_in_callback = strange.unchanged(); });
      evaluation = evaluate({.weights = expected.weights, .data = data});
      EXPECT_EQ(initial_weights(lenet(), 3).hash(), start);
      EXPECT_TRUE(own_in_callback);
      EXPECT_TRUE(strange.unchanged());
    }
    expect_same(from_start, expected);
    EXPECT_THAT(evaluation.loss, SameBits(evaluated.loss));
    EXPECT_THAT(evaluation.accuracy, SameBits(evaluated.accuracy));
    {
      const InStrangeFloats what_was({"as it was"});
      from_callback = train([&](const Epoch&) { set_floats(floats); });
    }
    expect_same(from_callback, expected);
  }
}

// Momentum and eps of a batch norm, the factors of dropout and pools: each is rounded when a program is made.
TEST(Train, TheCallersFloatingPointEnvironmentChangesNoNumberOfTheModel) {
  const Dataset data = some_data();
  const Model model{.name = "numbers",
                    .layers = {Conv2d{.out_channels = 4, .kernel = {5, 5}, .stride = {2, 2}}, BatchNorm{},
                               Relu{}, AvgPool{{3, 3}, {2, 2}}, Dropout{0.3}, Flatten{}, Linear{10}}};
  const auto hash = [&] {
    return run_training({.model = model, .data = data, .batch = 30, .epochs = 2, .optimizer = "adam"})
        .weights.hash();
  };
  const std::string expected = hash();
  for (const StrangeFloats& floats : strange_floats()) {
    const InStrangeFloats strange(floats);
    EXPECT_EQ(hash(), expected) << floats.name;
  }
}

TEST(Train, EndsWithWhatTheCallbackThrows) {
  EXPECT_THROW(
      run_training({.data = some_data(), .on_epoch = [](const Epoch&) { throw std::out_of_range("mine"); }}),
      std::out_of_range);
}

TEST(Train, TrainsANetworkBuiltFromLayers) {
  const Model model{
      .name = "small",
      .layers = {Conv2d{.out_channels = 4, .kernel = {3, 3}}, Relu{}, MaxPool{}, Flatten{}, Linear{10}}};
  const TrainResult result = run_training({.model = model, .data = some_data(), .devices = "2", .epochs = 1});
  ASSERT_EQ(result.weights.tensors.size(), 4U);
  EXPECT_EQ(result.weights.tensors[0].name, "conv1.weight");
  EXPECT_EQ(result.weights.tensors[2].shape, (std::vector<std::int64_t>{10, 676}));
  EXPECT_NE(result.weights.hash(), initial_weights(model, 0).hash());
}

// A mistake in the layers is an error before training begins.
TEST(Train, RefusesLayersThatAreNoGraph) {
  const auto refusal = [](std::vector<Layer> layers) {
    const Model model{.name = "graph", .layers = std::move(layers)};
    const std::string trained =
        refusal_of(Fault::usage, [&] { run_training({.model = model, .data = some_data()}); });
    EXPECT_EQ(refusal_of(Fault::usage, [&] { evaluate({.model = model, .data = some_data()}); }), trained);
    return trained;
  };
  EXPECT_EQ(refusal({{"sum", Add{}, {"input", "relu1"}}, Relu{}, Flatten{}, Linear{10}}),
            "layer sum takes its input from relu1, which takes its own input from sum: the layers form a "
            "cycle; take one of these inputs away");
  EXPECT_EQ(refusal({Conv2d{2, {3, 3}}, {Flatten{}, {"input"}}, Linear{10}}),
            "layer conv1 gives 2x26x26 from 1x28x28 from the input, but no layer takes it and it reaches no "
            "loss; name conv1 among the inputs of a layer behind it, or remove it");
  EXPECT_EQ(refusal({Relu{}, {Add{}, {"input", "relu2"}}, Flatten{}, Linear{10}}),
            "layer add1 takes its input from 'relu2', which names no layer; did you mean 'relu1'?");
  EXPECT_EQ(
      refusal({Conv2d{2, {3, 3}}, {Add{}, {"input", "conv1"}}, Flatten{}, Linear{10}}),
      "layer add1 adds two values of the same shape, got 1x28x28 from the input and 2x26x26 from conv1");
}

TEST(Train, RefusesNumbersBeyondTheirLimits) {
  const Dataset data = some_data();
  EXPECT_EQ(refusal_of(Fault::usage, [&] { run_training({.data = data, .batch = 0}); }),
            "batch: expected 1 to 1000000, found 0");
  EXPECT_EQ(refusal_of(Fault::usage, [&] { run_training({.data = data, .epochs = 0}); }),
            "epochs: expected at least 1, found 0");
  EXPECT_EQ(refusal_of(Fault::usage, [&] { run_training({.data = data, .lr = -1}); }),
            "lr: expected a finite number above 0, found -1");
  EXPECT_EQ(
      refusal_of(Fault::usage,
                 [&] { run_training({.data = data, .momentum = std::numeric_limits<float>::quiet_NaN()}); }),
      "momentum: expected a number from 0 to below 1, found nan");
  EXPECT_EQ(refusal_of(Fault::usage, [&] { run_training({.data = data, .threads = -1}); }),
            "threads: expected 1 to 1024, or 0 for every core, found -1");
  EXPECT_NE(refusal_of(Fault::usage, [&] { run_training({.data = data, .exchange = "stor"}); }).find("star"),
            std::string::npos);
  EXPECT_NE(refusal_of(Fault::usage, [&] { run_training({.data = data, .devices = "2xtpu"}); }).find("tpu"),
            std::string::npos);
}

TEST(Train, WarnsOfALossThatStaysWhereGuessingIs) {
  std::vector<std::string> told;
  const TrainOptions options{
      .data = some_data(),
      .batch = 1,  // 100 steps an epoch
      .lr = 1e-9f,
      .epochs = 3,
      .on_epoch = [&](const Epoch& epoch) { told.push_back(std::to_string(epoch.epoch)); },
      .on_warning = [&](const std::string& line) { told.push_back(line); }};
  const TrainResult result = run_training(options);
  ASSERT_EQ(result.warnings.size(), 2U);
  EXPECT_EQ(result.warnings[0].find("epoch 1: the loss stayed at 2.30"), 0U) << result.warnings[0];
  EXPECT_EQ(result.warnings[1].find("epoch 2: the loss is still 2.30"), 0U) << result.warnings[1];
  EXPECT_EQ(told, (std::vector<std::string>{"1", result.warnings[0], "2", result.warnings[1], "3"}));
}

TEST(Train, HasNothingToWarnOfWhereTheNetworkLearns) {
  Pictures easy = some_pictures(100);
  for (std::size_t i = 0; i < easy.pixels.size(); ++i) easy.pixels[i] = 255;
  for (std::uint8_t& label : easy.labels) label = 3;
  const TrainResult result = run_training(
      {.model = zoo_model("mlp"), .data = Dataset(easy, easy), .batch = 1, .lr = 0.01f, .epochs = 2});
  EXPECT_TRUE(result.warnings.empty()) << result.warnings[0];
}

TEST(Train, EndsAsTheBookDoes) {
  const TrainResult result{{{1, 0, 0, 0.5, 1.0}, {2, 0, 0, 0.8349, 3.0}}, {"cpu:0", "cpu:1"}, {}};
  EXPECT_EQ(result.summary(), "test acc: 0.83, 2.0 sec/epoch on [cpu:0, cpu:1]");
}

TEST(Evaluate, CountsTheTestSet) {
  const Dataset data = some_data();
  const TrainResult trained = run_training({.data = data, .epochs = 2});
  const Evaluation found = evaluate({.weights = trained.weights, .data = data, .devices = "3xcpu"});
  EXPECT_EQ(found.class_names, data.class_names());
  EXPECT_EQ(found.accuracy, trained.accuracy());
  EXPECT_THAT(found.loss, SameBits(trained.epochs.back().test_loss));
  EXPECT_EQ(found.seen, std::vector<std::int64_t>(10, 4));
}

TEST(Evaluate, RefusesWeightsOfAnotherModel) {
  const std::string refusal = refusal_of(
      Fault::usage, [] { evaluate({.weights = initial_weights(zoo_model("mlp"), 0), .data = some_data()}); });
  EXPECT_NE(refusal.find("expected conv1.weight"), std::string::npos) << refusal;
}

// A device at an instruction of many milliseconds seems stuck to so short a timeout.
TEST(Train, ADeviceThatIsStuckIsAnErrorThatNamesIt) {
  const Conv2d long_work{.out_channels = 64, .kernel = {5, 5}};
  const Model model{.layers = {long_work, long_work, Flatten{}, Linear{.out_units = 10}}};
  const std::string trained = refusal_of(Fault::device, [&] {
    run_training({.model = model, .data = some_data(), .epochs = 1, .threads = 1, .timeout = 1e-6});
  });
  EXPECT_EQ(trained.substr(0, 29), "no progress for 1e-06 s: cpu:");
  const Weights weights = initial_weights(model, 0);
  const std::string evaluated = refusal_of(Fault::device, [&] {
    evaluate({.model = model, .weights = weights, .data = some_data(), .threads = 1, .timeout = 1e-6});
  });
  EXPECT_EQ(evaluated.substr(0, 29), "no progress for 1e-06 s: cpu:");
}

TEST(Train, ACallbackSeesTheWeightsOfItsMomentAndMayEndTheTraining) {
  std::vector<std::string> seen;
  const TrainOptions options{.data = some_data(),
                             .batch = 25,  // 4 steps an epoch
                             .epochs = 3,
                             .on_step = [&](const FinishedStep& step) {
                               EXPECT_EQ(step.step, static_cast<std::int64_t>(seen.size()) + 1);
                               EXPECT_EQ(step.epoch, step.step <= 4 ? 1 : 2);
                               seen.push_back(step.weights().hash());
                               if (step.step == 6) step.stop();
                             }};
  const TrainResult result = run_training(options);
  ASSERT_EQ(seen.size(), 6U);
  EXPECT_TRUE(result.stopped);
  EXPECT_EQ(result.epochs.size(), 1U);
  EXPECT_EQ(result.weights.hash(), seen[5]);
  EXPECT_NE(seen[4], seen[5]);
}

TEST(Train, ACallbackOfAnEpochSeesTheWeightsThatWereEvaluatedAndMayEndTheTraining) {
  const Dataset data = some_data();
  std::vector<Weights> seen;
  std::vector<double> losses;
  const TrainResult result =
      run_training({.data = data, .epochs = 3, .on_epoch = [&](const FinishedEpoch& epoch) {
                      seen.push_back(epoch.weights());
                      losses.push_back(epoch.test_loss);
                      if (epoch.epoch == 2) epoch.stop();
                    }});
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_TRUE(result.stopped);
  EXPECT_EQ(result.epochs.size(), 2U);
  EXPECT_EQ(result.weights.hash(), seen[1].hash());
  EXPECT_NE(seen[0].hash(), seen[1].hash());
  for (std::size_t i = 0; i < seen.size(); ++i)
    EXPECT_THAT(evaluate({.weights = seen[i], .data = data}).loss, SameBits(losses[i])) << i;
}

}  // namespace
}  // namespace api
}  // namespace lockstep
