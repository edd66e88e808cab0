#include "store/config_file.h"

#include <bit>
#include <limits>

#include <gtest/gtest.h>

#include "base/error.h"

namespace lockstep::store {
namespace {

const std::string kHash = "0123456789abcdef0123456789abcdef";

std::string refusal(std::string_view text) {
  try {
    parse_config(text, "c.toml");
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage);
    EXPECT_EQ(std::string_view(error.what()).find('\n'), std::string_view::npos);
    return error.what();
  }
  ADD_FAILURE() << "was accepted";
  return {};
}

TEST(ConfigFile, TextIsFixed) {
  EXPECT_EQ(to_toml({}),
            "[job]\n"
            "model = \"lenet\"\n"
            "data = \"\"\n"
            "seed = 0\n"
            "batch = 256\n"
            "lr = 0.2\n"
            "epochs = 10\n"
            "convolution = \"direct\"\n"
            "law = 1\n"
            "load = \"\"\n"
            "\n"
            "[machine]\n"
            "devices = [\"cpu:0\"]\n"
            "threads = 0\n"
            "order = \"pack\"\n"
            "data_directory = \"\"\n");
}

TEST(ConfigFile, EveryFieldComesBack) {
  const RunConfig config{.job = {.model = "mlp",
                                 .data = kHash,
                                 .seed = 42,
                                 .batch = 17,
                                 .lr = 0.1f,
                                 .epochs = 3,
                                 .convolution = "fast",
                                 .law = 2,
                                 .load = std::string(32, 'f')},
                         .machine = {.devices = {"cpu:0", "opencl:1"},
                                     .threads = 5,
                                     .order = "layer",
                                     .data_directory = "/a \"b\"\\c\n\x7f\u00e9"}};
  EXPECT_EQ(parse_config(to_toml(config), "c.toml"), config);
}

TEST(ConfigFile, WhatIsNotSaidKeepsItsDefault) {
  EXPECT_EQ(parse_config("", "c.toml"), RunConfig{});
  EXPECT_EQ(parse_config("[job]\nbatch = 8\n[machine]", "c.toml"), (RunConfig{.job = {.batch = 8}}));
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
            "c.toml:2: unknown key in [machine] \"lr\"; there are devices, threads, order, data_directory");
  EXPECT_EQ(refusal("lr = 0.1"), "c.toml:1: unknown section \"lr\"; there are job, machine");
}

TEST(ConfigFile, WrongTypesAreRefused) {
  EXPECT_EQ(refusal("job = 3"), "c.toml:1: job: expected a section [job], found an integer");
  EXPECT_EQ(refusal("[[job]]"), "c.toml:1: job: expected a section [job], found an array");
  EXPECT_EQ(refusal("[job]\nmodel = 3"), "c.toml:2: job.model: expected a string, found an integer");
  EXPECT_EQ(refusal("[job]\nbatch = 'x'"), "c.toml:2: job.batch: expected an integer, found a string");
  EXPECT_EQ(refusal("[job]\nbatch = 2.0"), "c.toml:2: job.batch: expected an integer, found a fraction");
  EXPECT_EQ(refusal("[job]\nlr = true"), "c.toml:2: job.lr: expected a number, found a truth value");
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
  EXPECT_EQ(refusal("[job]\ndata = 'abc'"),
            "c.toml:2: job.data: expected 32 hex digits, or nothing, found \"abc\"");
  EXPECT_EQ(refusal("[machine]\ndevices = []"),
            "c.toml:2: machine.devices: expected at least one device, found none");
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

TEST(JobHash, DependsOnTheJobAlone) {
  RunConfig config;
  const Hash128 hash = job_hash(config);
  config.machine = {.devices = {"cpu:0", "cpu:1"}, .threads = 3, .order = "layer", .data_directory = "/d"};
  EXPECT_EQ(job_hash(config), hash);
  const RunConfig others[]{
      {.job = {.model = "mlp"}}, {.job = {.data = kHash}},
      {.job = {.seed = 1}},      {.job = {.batch = 255}},
      {.job = {.lr = 0.3f}},     {.job = {.epochs = 11}},
      {.job = {.law = 2}},       {.job = {.convolution = "fast"}},
      {.job = {.load = kHash}},
  };
  for (const RunConfig& other : others) EXPECT_NE(job_hash(other), hash) << to_toml(other);
}

}  // namespace
}  // namespace lockstep::store
