#include "store/config_file.h"

#include <bit>
#include <limits>

#include <gtest/gtest.h>

#include "base/refusal_for_test.h"

namespace lockstep::store {
namespace {

using arithmetic::ConvolutionRule;
using arithmetic::Schedule;
using arithmetic::ScheduleKind;
using arithmetic::UpdateKind;

const std::string kHash = "0123456789abcdef0123456789abcdef";

std::string refusal(std::string_view text) {
  return refusal_of(Fault::usage, [&] { parse_config(text, "c.toml"); });
}

TEST(ConfigFile, TextIsFixed) {
  EXPECT_EQ(to_toml({.job = {.convolution = ConvolutionRule::direct}}),
            "[job]\n"
            "model = \"lenet\"\n"
            "data = \"\"\n"
            "data_sizes = \"\"\n"
            "seed = 0\n"
            "batch = 256\n"
            "lr = 0.2\n"
            "momentum = 0.0\n"
            "epochs = 10\n"
            "convolution = \"direct\"\n"
            "law = 1\n"
            "load = \"\"\n"
            "\n"
            "[machine]\n"
            "devices = [\"cpu:0\"]\n"
            "shares = []\n"
            "threads = 0\n"
            "exchange = \"sharded\"\n"
            "shard_optimizer = false\n"
            "timeout = 60.0\n"
            "order = \"pack\"\n"
            "data_directory = \"\"\n");
}

TEST(ConfigFile, EveryFieldComesBack) {
  const RunConfig config{
      .job = {.model = "mlp",
              .data = kHash,
              .data_sizes = {.train = 6, .test = 5, .channels = 4, .height = 3, .width = 2, .classes = 1},
              .seed = 42,
              .batch = 17,
              .lr = 0.1f,
              .optimizer =
                  {.kind = UpdateKind::adam, .weight_decay = 0.1, .beta1 = 0.8, .beta2 = 0.99, .eps = 1e-7},
              .schedule = {.kind = ScheduleKind::cosine, .lr_min = 0.001, .warmup = 12},
              .epochs = 3,
              .convolution = ConvolutionRule::fast,
              .ghost = 48,
              .law = 2,
              .load = std::string(32, 'f')},
      .machine = {.devices = {"cpu:0", "opencl:1"},
                  .shares = {3, 0.1},
                  .threads = 5,
                  .exchange = "star",
                  .shard_optimizer = true,
                  .timeout = 0.1,
                  .order = "layer",
                  .data_directory = "/a \"b\"\\c\n\x7f\u00e9"}};
  EXPECT_EQ(parse_config(to_toml(config), "c.toml"), config);
}

TEST(ConfigFile, WhatIsNotSaidKeepsItsDefault) {
  EXPECT_EQ(parse_config("", "c.toml"), RunConfig{});
  EXPECT_EQ(parse_config("[job]\nbatch = 8\n[machine]", "c.toml"), (RunConfig{.job = {.batch = 8}}));
}

TEST(ConfigFile, BothRulesForConvolutionsComeBack) {
  for (const ConvolutionRule rule : {ConvolutionRule::fast, ConvolutionRule::direct}) {
    const RunConfig config{.job = {.convolution = rule}};
    EXPECT_EQ(parse_config(to_toml(config), "c.toml"), config) << to_toml(config);
  }
}

TEST(ConfigFile, OnlyAGhostThatIsNot0HasAKey) {
  EXPECT_NE(to_toml({.job = {.ghost = 48}}).find("\nghost = 48\n"), std::string::npos);
  EXPECT_EQ(to_toml({}).find("ghost"), std::string::npos);
  EXPECT_EQ(refusal("[job]\nghost = 10"), "c.toml:2: job.ghost: expected a multiple of 16, found 10");
  EXPECT_EQ(refusal("[job]\nghost = 'sync'"), "c.toml:2: job.ghost: expected an integer, found a string");
}

TEST(ConfigFile, FloatsComeBackBitForBit) {
  std::vector<float> rates{0.0f,
                           1.0f,
                           0.2f,
                           1e20f,
                           16777216.0f,
                           std::numeric_limits<float>::max(),
                           std::numeric_limits<float>::denorm_min(),
                           std::numeric_limits<float>::min(),
                           7.038531e-26f};  // its shortest digits, read as double, round to its neighbour
  for (std::uint32_t bits = 1; bits < 0x7f800000u; bits += 2097143u)
    rates.push_back(std::bit_cast<float>(bits));
  for (const float lr : rates) {
    const RunConfig config{.job = {.lr = lr}};
    EXPECT_EQ(std::bit_cast<std::uint32_t>(parse_config(to_toml(config), "c.toml").job.lr),
              std::bit_cast<std::uint32_t>(lr))
        << to_toml(config);
  }
}

TEST(ConfigFile, MomentumAndTimeoutComeBackBitForBit) {
  for (const float momentum : {0.0f, 0.1f, 0.9f, 7.038531e-26f, 0x1.fffffep-1f, 0x1p-149f}) {
    const RunConfig config{.job = {.optimizer = arithmetic::sgd_with_momentum(momentum)}};
    EXPECT_EQ(parse_config(to_toml(config), "c.toml").job.optimizer, config.job.optimizer) << to_toml(config);
  }
  for (const double timeout : {0.1, 1.0, 1.0 / 3, 1e300, 5e-324, std::numeric_limits<double>::max()}) {
    const RunConfig config{.machine = {.timeout = timeout}};
    EXPECT_EQ(parse_config(to_toml(config), "c.toml").machine.timeout, timeout) << to_toml(config);
  }
  EXPECT_EQ(parse_config("[machine]\ntimeout = 5", "c.toml").machine.timeout, 5.0);
}

TEST(ConfigFile, SeedsHaveAll64Bits) {
  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{1} << 32, (std::uint64_t{1} << 63) - 1,
                                   std::uint64_t{1} << 63, ~std::uint64_t{0}}) {
    const RunConfig config{.job = {.seed = seed}};
    EXPECT_EQ(parse_config(to_toml(config), "c.toml").job.seed, seed);
  }
  const std::string expected =
      "c.toml:2: job.seed: expected an integer from 0 to 2^64 - 1, from 2^63 on as a string of digits, "
      "found ";
  EXPECT_EQ(refusal("[job]\nseed = -1"), expected + "-1");
  EXPECT_EQ(refusal("[job]\nseed = 1.5"), expected + "a fraction");
  EXPECT_EQ(refusal("[job]\nseed = '18446744073709551616'"), expected + "\"18446744073709551616\"");
  EXPECT_EQ(refusal("[job]\nseed = '12x'"), expected + "\"12x\"");
}

TEST(ConfigFile, UnknownNamesAreRefusedWithTheNearest) {
  EXPECT_EQ(refusal("[jobs]"), "c.toml:1: unknown section \"jobs\"; did you mean 'job'?");
  EXPECT_EQ(refusal("[job]\n\nepoch = 3"),
            "c.toml:3: unknown key in [job] \"epoch\"; did you mean 'epochs'?");
  EXPECT_EQ(refusal("[machine]\nlr = 1"),
            "c.toml:2: unknown key in [machine] \"lr\"; there are devices, shares, threads, "
            "exchange, shard_optimizer, timeout, order, data_directory");
  EXPECT_EQ(refusal("lr = 0.1"), "c.toml:1: unknown section \"lr\"; there are job, machine");
}

TEST(ConfigFile, WrongTypesAreRefused) {
  EXPECT_EQ(refusal("job = 3"), "c.toml:1: job: expected a section [job], found an integer");
  EXPECT_EQ(refusal("[[job]]"), "c.toml:1: job: expected a section [job], found an array");
  EXPECT_EQ(refusal("[job]\nmodel = 3"), "c.toml:2: job.model: expected a string, found an integer");
  EXPECT_EQ(refusal("[job]\nbatch = 'x'"), "c.toml:2: job.batch: expected an integer, found a string");
  EXPECT_EQ(refusal("[job]\nbatch = 2.0"), "c.toml:2: job.batch: expected an integer, found a fraction");
  EXPECT_EQ(refusal("[job]\nlr = true"), "c.toml:2: job.lr: expected a number, found a truth value");
  EXPECT_EQ(refusal("[job]\nmomentum = '0'"), "c.toml:2: job.momentum: expected a number, found a string");
  EXPECT_EQ(refusal("[job]\nconvolution = 1"),
            "c.toml:2: job.convolution: expected a string, found an integer");
  EXPECT_EQ(refusal("[machine]\nexchange = 1"),
            "c.toml:2: machine.exchange: expected a string, found an integer");
  EXPECT_EQ(refusal("[machine]\nshard_optimizer = 1"),
            "c.toml:2: machine.shard_optimizer: expected true or false, found an integer");
  EXPECT_EQ(refusal("[machine]\ntimeout = true"),
            "c.toml:2: machine.timeout: expected a number, found a truth value");
  EXPECT_EQ(refusal("[machine]\ndevices = 'cpu:0'"),
            "c.toml:2: machine.devices: expected an array of strings, found a string");
  EXPECT_EQ(refusal("[machine]\ndevices = ['cpu:0', 2]"),
            "c.toml:2: machine.devices: expected a string, found an integer");
}

TEST(ConfigFile, ValuesOutOfRangeAreRefused) {
  EXPECT_EQ(refusal("[job]\nbatch = 0"),
            "c.toml:2: job.batch: expected an integer from 1 to 2147483647, found 0");
  EXPECT_EQ(refusal("[job]\nepochs = 2147483648"),
            "c.toml:2: job.epochs: expected an integer from 0 to 2147483647, found 2147483648");
  EXPECT_EQ(refusal("[job]\nlr = -0.1"), "c.toml:2: job.lr: expected a finite number from 0, found -0.1");
  EXPECT_EQ(refusal("[job]\nlr = nan"), "c.toml:2: job.lr: expected a finite number from 0, found nan");
  EXPECT_EQ(refusal("[job]\nlr = 1e39"), "c.toml:2: job.lr: expected a finite number from 0, found 1e+39");
  const std::string momentum = "c.toml:2: job.momentum: expected a number from 0 to below 1, found ";
  EXPECT_EQ(refusal("[job]\nmomentum = 1"), momentum + "1");
  EXPECT_EQ(refusal("[job]\nmomentum = 0.99999999999"), momentum + "0.99999999999");  // 1 as a float
  EXPECT_EQ(refusal("[job]\nmomentum = -0.5"), momentum + "-0.5");
  EXPECT_EQ(refusal("[job]\nmomentum = nan"), momentum + "nan");
  const std::string timeout =
      "c.toml:2: machine.timeout: expected a finite number of seconds above 0, found ";
  EXPECT_EQ(refusal("[machine]\ntimeout = 0"), timeout + "0");
  EXPECT_EQ(refusal("[machine]\ntimeout = -1.5"), timeout + "-1.5");
  EXPECT_EQ(refusal("[machine]\ntimeout = inf"), timeout + "inf");
  EXPECT_EQ(refusal("[machine]\ntimeout = nan"), timeout + "nan");
  EXPECT_EQ(refusal("[machine]\nexchange = 'ring'"),
            "c.toml:2: machine.exchange: expected \"sharded\" or \"star\", found \"ring\"");
  EXPECT_EQ(refusal("[job]\nseed = 1\nconvolution = 'dirct'"),
            "c.toml:3: job.convolution: expected \"fast\" or \"direct\", found \"dirct\"");
  EXPECT_EQ(refusal("[job]\ndata = 'abc'"),
            "c.toml:2: job.data: expected 32 hex digits, or nothing, found \"abc\"");
  EXPECT_EQ(
      refusal("[job]\ndata_sizes = '6 + 5'"),
      "c.toml:2: job.data_sizes: expected sizes as \"60000 + 10000 pictures of 1x28x28, 10 classes\", or "
      "nothing, found \"6 + 5\"");
  EXPECT_EQ(refusal("[machine]\ndevices = []"),
            "c.toml:2: machine.devices: expected at least one device, found none");
  EXPECT_EQ(refusal("[machine]\nshares = 3"),
            "c.toml:2: machine.shares: expected an array of numbers, found an integer");
  EXPECT_EQ(refusal("[machine]\nshares = [1, 0]"),
            "c.toml:2: machine.shares: expected finite numbers above 0, found 0");
  EXPECT_EQ(refusal("[machine]\nshares = [1, inf]"),
            "c.toml:2: machine.shares: expected finite numbers above 0, found inf");
  EXPECT_EQ(refusal("[machine]\nshares = [1, 'x']"),
            "c.toml:2: machine.shares: expected a number, found a string");
}

TEST(ConfigFile, WhatIsNotTomlIsRefusedWithItsLine) {
  EXPECT_EQ(refusal("[job]\nlr = \n").substr(0, 25), "c.toml:2: expected TOML: ");
  EXPECT_EQ(refusal("[job]\nlr = t\n").substr(0, 25), "c.toml:2: expected TOML: ");  // quotes the line's end
  EXPECT_EQ(refusal(std::string(2000000, '\n')),
            "c.toml: expected a config of at most 1048576 bytes, found 2000000");
}

TEST(ConfigFile, TablesTooDeepForTheStackAreRefused) {
  std::string deep = "[a";
  for (int i = 0; i < 100000; ++i) deep += ".a";
  EXPECT_EQ(refusal(deep + "]"), "c.toml: expected a config of at most 4096 dots, found more");
  EXPECT_EQ(refusal(deep.substr(0, 2 + 2 * 4096) + "]"),
            "c.toml:1: unknown section \"a\"; there are job, machine");
}

std::string job_lines(const JobConfig& job) {
  const std::string text = to_toml({.job = job});
  const std::size_t from = text.find("lr = "), end = text.find("epochs = 10");
  return text.substr(from, end - from);
}

// A job that older versions know has the text, and so the hash, that they gave it.
TEST(ConfigFile, OnlyWhatOlderVersionsDidNotKnowHasKeysOfItsOwn) {
  EXPECT_EQ(job_lines({}), "lr = 0.2\nmomentum = 0.0\n");
  EXPECT_EQ(job_lines({.optimizer = arithmetic::sgd_with_momentum(0.9f)}), "lr = 0.2\nmomentum = 0.9\n");
  EXPECT_EQ(job_lines({.optimizer = {.kind = UpdateKind::momentum, .momentum = 0.9f, .weight_decay = 0.01}}),
            "lr = 0.2\nmomentum = 0.9\nweight_decay = 0.01\n");
  EXPECT_EQ(job_lines({.optimizer = {.kind = UpdateKind::nesterov, .momentum = 0.9f}}),
            "lr = 0.2\nmomentum = 0.9\noptimizer = \"nesterov\"\n");
  EXPECT_EQ(job_lines({.optimizer = {.kind = UpdateKind::adamw}}),
            "lr = 0.2\nmomentum = 0.0\noptimizer = \"adamw\"\nweight_decay = 0.0\nbeta1 = 0.9\n"
            "beta2 = 0.999\neps = 1e-08\n");
  EXPECT_EQ(job_lines({.schedule = {.kind = ScheduleKind::step, .step_epochs = 3, .step_factor = 0.5}}),
            "lr = 0.2\nmomentum = 0.0\nschedule = \"step\"\nstep_epochs = 3\nstep_factor = 0.5\n");
  EXPECT_EQ(job_lines({.schedule = {.kind = ScheduleKind::cosine, .warmup = 5}}),
            "lr = 0.2\nmomentum = 0.0\nschedule = \"cosine\"\nlr_min = 0.0\nwarmup = 5\n");
}

TEST(ConfigFile, EveryOptimizerAndScheduleComesBack) {
  for (const arithmetic::UpdateRule& rule : arithmetic::kUpdateRules) {
    for (const double decay : {0.0, 0.01, 1.0 / 3}) {
      for (const Schedule& schedule :
           {Schedule{}, Schedule{.kind = ScheduleKind::step, .step_epochs = 7, .step_factor = 1.0 / 3},
            Schedule{.kind = ScheduleKind::cosine, .lr_min = 1e-5, .warmup = 100}}) {
        RunConfig config{
            .job = {.optimizer = {.kind = rule.kind, .weight_decay = decay}, .schedule = schedule}};
        if (rule.takes_momentum) config.job.optimizer.momentum = 0.3f;
        EXPECT_EQ(parse_config(to_toml(config), "c.toml"), config) << to_toml(config);
      }
    }
  }
}

TEST(ConfigFile, AnOptimizerBringsItsOwnDefaults) {
  const JobConfig adam = parse_config("[job]\noptimizer = 'adamw'", "c.toml").job;
  EXPECT_EQ(adam.optimizer, (arithmetic::Optimizer{.kind = UpdateKind::adamw, .weight_decay = 0.01}));
  EXPECT_EQ(adam.lr, 0.001f);
  EXPECT_EQ(parse_config("[job]\noptimizer = 'nesterov'", "c.toml").job.optimizer.momentum, 0.9f);
  EXPECT_EQ(parse_config("[job]\nlr = 0.5\noptimizer = 'adam'", "c.toml").job.lr, 0.5f);
}

TEST(ConfigFile, AnOptimizerOrScheduleThatCannotBeIsRefusedWithItsLine) {
  EXPECT_EQ(refusal("[job]\noptimizer = 'adem'"),
            "c.toml:2: job.optimizer: expected \"sgd\" or \"momentum\" or \"nesterov\" or \"adam\" or "
            "\"adamw\", found \"adem\"; did you mean 'adam'?");
  EXPECT_EQ(refusal("[job]\nschedule = 'cosin'"),
            "c.toml:2: job.schedule: expected \"constant\" or \"step\" or \"cosine\", found \"cosin\"; did "
            "you mean 'cosine'?");
  EXPECT_EQ(
      refusal("[job]\nmomentum = 0.5\noptimizer = 'adam'"),
      "c.toml:2: job.momentum: the optimizer adam takes none; leave it out or choose momentum or nesterov");
  EXPECT_EQ(refusal("[job]\noptimizer = 'adam'\n\nbeta2 = 1"),
            "c.toml:4: job.beta2: expected a number from 0 to below 1, found 1");
  EXPECT_EQ(refusal("[job]\nweight_decay = -1.5"),
            "c.toml:2: job.weight_decay: expected a finite number from 0, found -1.5");
  EXPECT_EQ(
      refusal("[job]\nschedule = 'step'"),
      "c.toml: job.step_epochs: the schedule step needs it: how many epochs lie between two drops of the "
      "rate");
  EXPECT_EQ(refusal("[job]\nwarmup = -1"),
            "c.toml:2: job.warmup: expected an integer from 0 to 2147483647, found -1");
}

TEST(JobHash, DependsOnTheJobAlone) {
  RunConfig config;
  const Hash128 hash = job_hash(config);
  config.machine = {.devices = {"cpu:0", "cpu:1"},
                    .shares = {2, 1},
                    .threads = 3,
                    .exchange = "star",
                    .shard_optimizer = true,
                    .timeout = 5,
                    .order = "layer",
                    .data_directory = "/d"};
  EXPECT_EQ(job_hash(config), hash);
  const RunConfig others[]{
      {.job = {.model = "mlp"}},
      {.job = {.data = kHash}},
      {.job = {.seed = 1}},
      {.job = {.batch = 255}},
      {.job = {.lr = 0.3f}},
      {.job = {.epochs = 11}},
      {.job = {.ghost = 16}},
      {.job = {.law = 2}},
      {.job = {.load = kHash}},
      {.job = {.optimizer = arithmetic::sgd_with_momentum(0.9f)}},
      {.job = {.optimizer = {.kind = UpdateKind::nesterov, .momentum = 0.9f}}},
      {.job = {.optimizer = {.kind = UpdateKind::adam}}},
      {.job = {.optimizer = {.kind = UpdateKind::adamw}}},
      {.job = {.optimizer = {.kind = UpdateKind::adam, .beta1 = 0.8}}},
      {.job = {.optimizer = {.weight_decay = 0.1}}},
      {.job = {.schedule = {.kind = ScheduleKind::step, .step_epochs = 2, .step_factor = 0.1}}},
      {.job = {.schedule = {.kind = ScheduleKind::cosine}}},
      {.job = {.schedule = {.warmup = 1}}},
  };
  for (const RunConfig& other : others) EXPECT_NE(job_hash(other), hash) << to_toml(other);
  EXPECT_NE(job_hash({.job = {.convolution = ConvolutionRule::fast}}),
            job_hash({.job = {.convolution = ConvolutionRule::direct}}));
}

}  // namespace
}  // namespace lockstep::store
