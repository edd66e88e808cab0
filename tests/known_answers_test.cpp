// The law's functions against answers from another program: tests/known_answers/law.py is written from
// docs/arithmetic.md alone, in exact integers, and shares no line with the library. Its tables stand beside
// it.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "arithmetic/double_log.h"
#include "arithmetic/normal.h"
#include "arithmetic/scalar.h"
#include "base/aligned_buffer.h"
#include "base/random.h"
#include "cpu/layers/dropout.h"
#include "data/shuffle.h"
#include "model/zoo.h"
#include "program/node.h"
#include "reference/dropout.h"
#include "train/job.h"

namespace lockstep {
namespace {

using Row = std::vector<std::string>;

std::vector<Row> table(const std::string& name) {
  std::ifstream file(std::filesystem::path(LOCKSTEP_SOURCE_DIR) / "tests/known_answers" / (name + ".txt"));
  std::vector<Row> rows;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    rows.emplace_back(std::istream_iterator<std::string>(words), std::istream_iterator<std::string>());
  }
  EXPECT_FALSE(rows.empty()) << name;
  return rows;
}

std::uint32_t word(const std::string& hex) {
  return static_cast<std::uint32_t>(std::stoul(hex, nullptr, 16));
}
std::uint64_t long_word(const std::string& hex) { return std::stoull(hex, nullptr, 16); }

// Which NaN it is lies outside the law.
void expect_answers(const std::string& name, float (*function)(float)) {
  for (const Row& row : table(name)) {
    const float result = function(std::bit_cast<float>(word(row.at(0))));
    if (row.at(1) == "nan") {
      EXPECT_TRUE(std::isnan(result)) << name << " of " << row.at(0);
    } else {
      EXPECT_EQ(std::bit_cast<std::uint32_t>(result), word(row.at(1))) << name << " of " << row.at(0);
    }
  }
}

void expect_answers_in_double(const std::string& name, const auto& function) {
  for (const Row& row : table(name)) {
    const double result = function(row.at(0));
    EXPECT_EQ(std::bit_cast<std::uint64_t>(result), long_word(row.at(1))) << name << " of " << row.at(0);
  }
}

TEST(KnownAnswers, Exp) { expect_answers("exp", arithmetic::exp_law); }

TEST(KnownAnswers, Log) { expect_answers("log", arithmetic::log_law); }

TEST(KnownAnswers, LogInDouble) {
  expect_answers_in_double("double_log", [](const std::string& input) {
    return arithmetic::log_double(std::bit_cast<double>(long_word(input)));
  });
}

TEST(KnownAnswers, NormalNumbers) {
  expect_answers_in_double("normal",
                           [](const std::string& input) { return arithmetic::normal_of_word(word(input)); });
}

TEST(KnownAnswers, Philox) {
  for (const Row& row : table("philox")) {
    const auto at = [&](std::size_t i) { return word(row.at(i)); };
    EXPECT_EQ(philox4x32({at(0), at(1), at(2), at(3)}, {at(4), at(5)}),
              (std::array{at(6), at(7), at(8), at(9)}));
  }
}

TEST(KnownAnswers, Streams) {
  for (const Row& row : table("streams")) EXPECT_EQ(stream_id(row.at(0)), word(row.at(1))) << row.at(0);
}

TEST(KnownAnswers, Shuffles) {
  for (const Row& row : table("shuffles")) {
    std::vector<std::uint32_t> order;
    for (std::size_t i = 2; i < row.size(); ++i)
      order.push_back(static_cast<std::uint32_t>(std::stoul(row[i])));
    EXPECT_EQ(data::epoch_order(std::stoull(row.at(0)), static_cast<std::uint32_t>(std::stoul(row.at(1))),
                                static_cast<std::uint32_t>(order.size())),
              order)
        << "seed " << row.at(0) << ", epoch " << row.at(1);
  }
}

// Rows: seed, parameter, element, bits.
void expect_initial_weights(const model::Model& model, const std::string& name_of_table) {
  std::map<std::string, run::Weights> by_seed;
  std::map<std::string, std::size_t> number_by_name;
  for (const model::Parameter& parameter : model::parameters_of(model))
    number_by_name.emplace(parameter.name, number_by_name.size());
  for (const Row& row : table(name_of_table)) {
    run::Weights& weights = by_seed[row.at(0)];
    if (weights.empty()) weights = train::initial_weights(model, std::stoull(row.at(0)));
    const auto& values = weights.at(number_by_name.at(row.at(1)));
    EXPECT_EQ(std::bit_cast<std::uint32_t>(values.at(std::stoul(row.at(2)))), word(row.at(3)))
        << "seed " << row.at(0) << ", " << row.at(1) << "[" << row.at(2) << "]";
  }
}

TEST(KnownAnswers, InitialWeightsOfLeNet) { expect_initial_weights(model::lenet(), "initial_weights"); }

TEST(KnownAnswers, UniformInitialWeights) {
  model::Model lenet = model::lenet();
  for (model::Layer& layer : lenet.layers) {
    if (auto* const conv = std::get_if<model::Conv2d>(&layer.kind))
      conv->initial_weight = model::KaimingUniform{};
    if (auto* const linear = std::get_if<model::Linear>(&layer.kind))
      linear->initial_weight = model::XavierUniform{};
  }
  expect_initial_weights(lenet, "uniform_weights");
}

TEST(KnownAnswers, BiasesOfLeNetStartAtPlusZero) {
  const model::Model lenet = model::lenet();
  const run::Weights weights = train::initial_weights(lenet, 0);
  const auto parameters = model::parameters_of(lenet);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (!parameters[i].name.ends_with(".bias")) continue;
    for (const float value : weights[i])
      EXPECT_EQ(std::bit_cast<std::uint32_t>(value), 0U) << parameters[i].name;
  }
}

// Of the upper 24 bits of a word: an element is kept by a threshold that they reach, and by none above. A
// CPU's kernels and the twin are asked.
// By name: the order of a model is not that of PyTorch.
TEST(KnownAnswers, TensorsOfTheBooksResnet18) {
  std::map<std::string, std::vector<std::int64_t>> expected, found;
  for (const Row& row : table("resnet18")) {
    for (std::size_t i = 1; i < row.size(); ++i) expected[row[0]].push_back(std::stoll(row[i]));
  }
  for (const model::Parameter& parameter : model::parameters_of(model::resnet18()))
    found[parameter.name] = parameter.shape;
  EXPECT_EQ(found, expected);
}

TEST(KnownAnswers, DropoutWords) {
  for (const Row& row : table("dropout")) {
    const std::uint32_t bits = word(row.at(6)) >> 8;
    const std::size_t elements = std::stoul(row.at(3)), element = std::stoul(row.at(5));
    const reference::Draws draws{.seed = std::stoull(row.at(0)),
                                 .epoch = std::stoi(row.at(1)),
                                 .examples = {static_cast<std::uint32_t>(std::stoul(row.at(4)))}};
    for (const std::uint32_t threshold : {bits, bits + 1}) {
      const bool keeps = threshold == bits;
      const reference::DropoutLayer layer{row.at(2), threshold * 0x1p-24, elements};
      EXPECT_EQ(dropout_keeps(layer, draws, 0, element), keeps) << row.at(2) << " " << element;
      for (const cpu::Kernels* kernels : cpu::usable_kernels()) {
        AlignedBuffer<float> numbers(elements * arithmetic::kPack);
        std::ranges::fill(numbers.span(), 1.0f);
        const std::array<std::uint32_t, arithmetic::kPack> examples{draws.examples[0]};
        cpu::dropout_kernel (*kernels)({.x = numbers.data(),
                                        .y = numbers.data(),
                                        .channels = static_cast<int>(elements),
                                        .rows = 1,
                                        .columns = 1,
                                        .whole_rows = 1,
                                        .whole_columns = 1,
                                        .examples = examples.data(),
                                        .present = 1,
                                        .seed = draws.seed,
                                        .epoch = static_cast<std::uint32_t>(draws.epoch),
                                        .stream = stream_id("dropout:" + row.at(2)),
                                        .threshold = threshold,
                                        .scale = 1});
        EXPECT_EQ(numbers[element * arithmetic::kPack] != 0, keeps)
            << kernels->name << " " << row.at(2) << " " << element;
      }
    }
  }
}

TEST(KnownAnswers, DropoutProbabilities) {
  for (const Row& row : table("dropout_probabilities")) {
    const program::DropoutNode node("layer", std::bit_cast<double>(long_word(row.at(0))), {1});
    EXPECT_EQ(node.dropout.threshold, word(row.at(1))) << row.at(0);
    EXPECT_EQ(std::bit_cast<std::uint32_t>(node.dropout.scale), word(row.at(2))) << row.at(0);
  }
}

}  // namespace
}  // namespace lockstep
