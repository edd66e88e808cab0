// Steps of many shapes, with what the naive twin makes of them: every kind of device is held against these.
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"
#include "device/device.h"
#include "program/checked_for_test.h"
#include "program/compile.h"
#include "reference/step.h"

namespace lockstep::device {

using model::Add;
using model::AvgPool;
using model::BatchNorm;
using model::Conv2d;
using model::Dropout;
using model::Flatten;
using model::GlobalAvgPool;
using model::LayerKind;
using model::Linear;
using model::MaxPool;
using model::Relu;
using reference::Tensor;

// Counts how often each event is signalled; any thread may signal.
struct Signals : Watcher {
  void begin(const program::Instruction&) override {}
  void signal(program::EventId event) override { ++counts[static_cast<std::size_t>(event)]; }
  std::array<std::atomic<int>, 512> counts{};
};

// All segments; the exchange of a device that is alone is joins and nothing else, each run when what it waits
// for has happened.
inline void run_step(Executable& executable, const program::Program& p, const StepInput& input) {
  Signals signals;
  executable.begin(0);
  std::size_t next = 0;
  for (std::size_t s = 0; s < p.segments.size(); ++s) {
    if (p.segments[s].over == program::Segment::Over::host) continue;
    for (const program::EventId event : p.segments[s].waits)
      EXPECT_EQ(signals.counts[static_cast<std::size_t>(event)], 1);
    executable.run(s, input, signals);
    for (; next < p.exchange.size(); ++next) {
      const program::ExchangeInstruction& instruction = p.exchange[next];
      const bool ready = std::ranges::all_of(instruction.waits, [&](program::EventId event) {
        return signals.counts[static_cast<std::size_t>(event)] == 1;
      });
      if (!ready) break;
      executable.join(std::vector{std::get<program::Join>(instruction.operation)}, input);
      for (const program::EventId event : instruction.signals) signals.signal(event);
    }
  }
  EXPECT_EQ(next, p.exchange.size());
  EXPECT_EQ(executable.counts(p.verdict)[0], 1);
}

struct Case {
  const char* name;
  model::Shape input;
  std::vector<LayerKind> layers;
  std::vector<int> examples = {37, 70};  // few packs, and enough for the largest tiles of a GPU
  arithmetic::ConvolutionRule rule = arithmetic::ConvolutionRule::direct;
  std::vector<model::Layer> graph = {};  // instead of `layers`
};

inline model::Model make_model(const Case& c) {
  if (!c.graph.empty()) return {.name = c.name, .input = c.input, .layers = c.graph, .convolution = c.rule};
  model::Model m{.name = c.name, .input = c.input, .layers = {}, .convolution = c.rule};
  for (const LayerKind& kind : c.layers)
    m.layers.push_back({"layer" + std::to_string(m.layers.size() + 1), kind});
  return m;
}

inline std::vector<std::uint32_t> bits_of(std::span<const float> values) {
  std::vector<std::uint32_t> bits;
  for (const float v : values) bits.push_back(std::bit_cast<std::uint32_t>(v));
  return bits;
}

// The same layer without a bias.
template <class Kind>
Kind without_bias(Kind layer) {
  layer.bias = false;
  return layer;
}

inline const std::vector<Case> kCases = {
    {"linear only", {3, 2, 2}, {Flatten{}, Linear{5}}, {1, 16, 17, 96, 500}},
    {"odd linears", {1, 5, 7}, {Flatten{}, Linear{33}, Relu{}, Linear{18}, Relu{}, Linear{7}}, {33}},
    {"one unit", {1, 1, 1}, {Flatten{}, Linear{1}, Relu{}, Linear{2}}, {20}},
    {"conv, pooled twice",
     {1, 14, 14},
     {Conv2d{7, {3, 3}}, Relu{}, AvgPool{{2, 2}, {2, 2}}, Conv2d{9, {3, 3}}, Relu{}, AvgPool{{2, 2}, {2, 2}},
      Flatten{}, Linear{10}},
     {96, 200}},
    {"pool that drops a row and a column",
     {2, 13, 11},
     {Conv2d{5, {3, 3}}, Relu{}, AvgPool{{2, 2}, {2, 2}}, Conv2d{21, {3, 2}}, Relu{}, AvgPool{{2, 2}, {2, 2}},
      Flatten{}, Linear{4}}},
    {"padding and stride",
     {3, 9, 10},
     {Conv2d{6, {3, 3}, {2, 2}, {1, 1}}, Relu{}, Conv2d{13, {5, 5}, {1, 1}, {2, 2}}, Relu{}, Flatten{},
      Linear{3}}},
    {"stride 3, tall kernel",
     {2, 17, 12},
     {Conv2d{4, {5, 2}, {3, 2}, {2, 0}}, Conv2d{8, {2, 3}, {2, 3}, {1, 2}}, Relu{}, Flatten{}, Linear{5}}},
    {"kernels 1x1 and 7x7",
     {4, 8, 9},
     {Conv2d{17, {1, 1}}, Relu{}, Conv2d{3, {7, 7}, {1, 1}, {3, 3}}, Relu{}, Conv2d{2, {1, 1}, {2, 2}},
      Flatten{}, Linear{6}}},
    {"multiples of 16: one chain a pack",
     {16, 6, 7},
     {Conv2d{32, {3, 3}, {1, 1}, {1, 1}}, Relu{}, Conv2d{16, {3, 3}, {2, 2}, {1, 1}}, Relu{}, Flatten{},
      Linear{16}}},
    {"multiples of 16 behind a pool",
     {16, 8, 8},
     {Conv2d{16, {3, 3}, {1, 1}, {1, 1}}, Relu{}, AvgPool{{2, 2}, {2, 2}}, Flatten{}, Linear{10}}},
    {"maximum pools",
     {3, 11, 9},
     {Conv2d{5, {3, 3}, {1, 1}, {1, 1}}, Relu{}, MaxPool{{3, 3}, {2, 2}, {1, 1}}, Conv2d{6, {2, 2}},
      MaxPool{{2, 2}, {2, 2}}, Flatten{}, Linear{5}}},
    {"average pools of other sizes",
     {2, 12, 12},
     {AvgPool{{3, 2}, {1, 2}, {1, 1}}, Conv2d{5, {3, 3}}, AvgPool{{3, 3}, {2, 2}, {1, 1}}, Relu{},
      AvgPool{{2, 2}, {1, 1}}, Flatten{}, Linear{5}}},
    {"input smaller than the kernel",
     {2, 2, 2},
     {Conv2d{3, {3, 3}, {1, 1}, {2, 2}}, Relu{}, Flatten{}, Linear{3}}},
    {"padding wider than the kernel",
     {1, 3, 3},
     {Conv2d{2, {2, 2}, {1, 1}, {3, 3}}, Conv2d{2, {1, 1}, {1, 1}, {1, 1}}, Flatten{}, Linear{3}}},
    {"strided 1x1 that only the first of each pair reaches",
     {3, 4, 4},
     {Conv2d{6, {3, 3}}, Relu{}, Conv2d{20, {1, 1}, {2, 2}}, Flatten{}, Linear{3}},
     {130}},
    {"1x1 that sees only padding",
     {3, 1, 1},
     {Conv2d{5, {1, 1}, {3, 3}, {1, 1}}, Flatten{}, Linear{3}},
     {130}},
    {"no biases behind pools, one of them the first layer's",
     {2, 14, 14},
     {without_bias(Conv2d{7, {3, 3}}), Relu{}, AvgPool{{2, 2}, {2, 2}}, without_bias(Conv2d{9, {3, 3}}),
      Relu{}, AvgPool{{2, 2}, {2, 2}}, Flatten{}, without_bias(Linear{33}), Relu{}, Linear{10}},
     {96, 200}},
    {"no biases of strided layers and of multiples of 16",
     {16, 9, 10},
     {without_bias(Conv2d{16, {3, 3}, {2, 2}, {1, 1}}), Relu{}, without_bias(Conv2d{5, {2, 3}}), Flatten{},
      without_bias(Linear{16}), without_bias(Linear{6})}},
    {"groups behind pools, one of them the first layer, and a depthwise one",
     {4, 14, 14},
     {Conv2d{.out_channels = 6, .kernel = {3, 3}, .groups = 2}, Relu{}, AvgPool{{2, 2}, {2, 2}},
      Conv2d{.out_channels = 9, .kernel = {3, 3}, .groups = 3}, Relu{}, AvgPool{{2, 2}, {2, 2}},
      Conv2d{.out_channels = 18, .kernel = {3, 3}, .padding = {1, 1}, .groups = 9, .bias = false}, Relu{},
      Flatten{}, Linear{10}},
     {37, 200}},
    {"groups of strided, padded layers",
     {6, 9, 10},
     {Conv2d{.out_channels = 21, .kernel = {3, 2}, .stride = {2, 1}, .padding = {1, 1}, .groups = 3}, Relu{},
      Conv2d{.out_channels = 35, .kernel = {2, 3}, .stride = {1, 2}, .padding = {0, 2}, .groups = 7},
      Conv2d{.out_channels = 35, .kernel = {3, 3}, .padding = {1, 1}, .groups = 35}, Relu{},
      MaxPool{{2, 2}, {2, 2}}, Flatten{}, Linear{3}}},
    {"groups of multiples of 16",
     {32, 6, 7},
     {Conv2d{.out_channels = 64, .kernel = {3, 3}, .padding = {1, 1}, .groups = 2}, Relu{},
      Conv2d{.out_channels = 32, .kernel = {1, 1}, .stride = {2, 2}, .groups = 2, .bias = false}, Relu{},
      Flatten{}, Linear{16}}},
    {"groups of single pixels",
     {32, 1, 1},
     {Conv2d{.out_channels = 32, .kernel = {1, 1}, .groups = 2}, Relu{},
      Conv2d{.out_channels = 24, .kernel = {1, 1}, .groups = 8}, Flatten{}, Linear{6}},
     {37, 130}},
    {"many channels",
     {40, 5, 5},
     {Conv2d{70, {3, 3}}, Relu{}, Conv2d{35, {3, 3}}, Flatten{}, Linear{9}},
     {16}},
};

// A layer of fast convolution between others, so that all its passes are seen.
inline Case fast(const char* name, model::Shape input, std::vector<LayerKind> layers,
                 std::vector<int> examples) {
  layers.insert(layers.end(), {Flatten{}, Linear{5}});
  return {name, input, std::move(layers), std::move(examples), arithmetic::ConvolutionRule::fast};
}

inline const std::vector<Case> kFastCases = {
    fast("LeNet's second convolution", {1, 12, 12},
         {Conv2d{20, {1, 1}}, Conv2d{50, {5, 5}}, Relu{}, AvgPool{{2, 2}, {2, 2}}}, {37, 70}),
    fast("F(4x4, 3x3), overhanging", {1, 9, 7}, {Conv2d{17, {1, 1}}, Conv2d{33, {3, 3}, {1, 1}, {1, 1}}},
         {20, 100}),
    fast("F(4x4, 3x3) without padding", {16, 10, 11}, {Relu{}, Conv2d{18, {3, 3}}, Relu{}}, {33}),
    fast("F(2x2, 3x3)", {1, 6, 6}, {Conv2d{16, {1, 1}}, Conv2d{24, {3, 3}, {1, 1}, {1, 1}}, Relu{}},
         {16, 17}),
    fast("F(2x2, 5x5)", {1, 6, 6}, {Conv2d{20, {1, 1}}, Conv2d{17, {5, 5}, {1, 1}, {0, 0}}}, {5, 72}),
    fast("F(4x4, 5x5) padded", {1, 9, 13}, {Conv2d{31, {1, 1}}, Conv2d{16, {5, 5}, {1, 1}, {2, 2}}, Relu{}},
         {18}),
    fast("two in a row", {1, 12, 12},
         {Conv2d{16, {3, 3}}, Relu{}, Conv2d{32, {3, 3}, {1, 1}, {1, 1}}, Relu{},
          Conv2d{16, {3, 3}, {1, 1}, {1, 1}}, Relu{}, MaxPool{{2, 2}, {2, 2}}},
         {40}),
    fast("no biases", {1, 14, 14},
         {without_bias(Conv2d{20, {3, 3}}), without_bias(Conv2d{18, {5, 5}}), Relu{}, AvgPool{{2, 2}, {2, 2}},
          without_bias(Conv2d{33, {3, 3}, {1, 1}, {1, 1}})},
         {37, 70}),
    fast("groups", {2, 14, 14},
         {Conv2d{.out_channels = 40, .kernel = {1, 1}, .groups = 2},
          Conv2d{.out_channels = 34, .kernel = {5, 5}, .groups = 2}, Relu{}, AvgPool{{2, 2}, {2, 2}},
          Conv2d{.out_channels = 48, .kernel = {1, 1}},
          Conv2d{.out_channels = 51, .kernel = {3, 3}, .padding = {1, 1}, .groups = 3, .bias = false}, Relu{},
          Conv2d{.out_channels = 51, .kernel = {3, 3}, .padding = {1, 1}, .groups = 3}},
         {37, 70}),
    fast("a pool that drops what a tile still reads", {1, 13, 13},
         {Conv2d{16, {1, 1}}, Relu{}, Conv2d{20, {3, 3}}, Relu{}, AvgPool{{2, 2}, {2, 2}}, Conv2d{16, {3, 3}},
          Relu{}, AvgPool{{3, 3}, {3, 3}}},
         {19}),
    fast("F(7x7, 3x3)", {1, 7, 7}, {Conv2d{32, {1, 1}}, Conv2d{35, {3, 3}, {1, 1}, {1, 1}}, Relu{}},
         {18, 70}),
    // The pool is no part of the convolution: its windows would lie in two tiles.
    fast("F(7x7, 3x3) before a pool, overhanging", {1, 16, 15},
         {Conv2d{33, {1, 1}}, Conv2d{32, {3, 3}}, Relu{}, AvgPool{{2, 2}, {2, 2}},
          without_bias(Conv2d{32, {3, 3}, {1, 1}, {1, 1}})},
         {33}),
    fast("groups of F(7x7, 3x3)", {2, 6, 7},
         {Conv2d{66, {1, 1}}, Conv2d{.out_channels = 64, .kernel = {3, 3}, .padding = {1, 1}, .groups = 2}},
         {17}),
};

// Values with several readers.
inline Case graph(const char* name, model::Shape input, std::vector<model::Layer> layers,
                  std::vector<int> examples,
                  arithmetic::ConvolutionRule rule = arithmetic::ConvolutionRule::direct) {
  return {name, input, {}, std::move(examples), rule, std::move(layers)};
}

inline const Conv2d kSame5{5, {3, 3}, {1, 1}, {1, 1}}, kSame16{16, {3, 3}, {1, 1}, {1, 1}};

inline const std::vector<Case> kGraphCases = {
    graph("a residual block behind a pool", {3, 9, 8},
          {{"conv1", kSame5},
           {"relu1", Relu{}},
           {"pool1", AvgPool{{2, 2}, {2, 2}}},
           {"conv2", kSame5},
           {"relu2", Relu{}},
           {"conv3", kSame5},
           {"add1", Add{}, {"pool1", "conv3"}},
           {"relu3", Relu{}},
           {"flatten1", Flatten{}},
           {"linear1", Linear{4}}},
          {37, 70}),
    // A relu that worked in place would change the gradient of the other operand.
    graph("both operands are relus", {7},
          {{"linear1", Linear{33}},
           {"relu1", Relu{}},
           {"linear2", Linear{33}},
           {"relu2", Relu{}},
           {"add1", Add{}, {"relu1", "relu2"}},
           {"linear3", Linear{5}}},
          {20, 200}),
    graph("operands are relus that stand alone", {2, 5, 5},
          {{"conv1", kSame5},
           {"relu1", Relu{}},
           {"relu2", Relu{}, {"conv1"}},
           {"add1", Add{}, {"relu1", "relu2"}},
           {"add2", Add{}, {"add1", "conv1"}},
           {"flatten1", Flatten{}},
           {"linear1", Linear{3}}},
          {33}),
    graph("a shortcut with a stride, trimmed differently", {2, 11, 10},
          {{"conv1", kSame5},
           {"relu1", Relu{}},
           {"conv2", Conv2d{6, {3, 3}, {2, 2}, {1, 1}}},
           {"relu2", Relu{}},
           {"shortcut", Conv2d{6, {1, 1}, {2, 2}}, {"relu1"}},
           {"add1", Add{}, {"relu2", "shortcut"}},
           {"pool1", MaxPool{{2, 2}, {2, 2}}},
           {"flatten1", Flatten{}},
           {"linear1", Linear{3}}},
          {19, 70}),
    graph("five readers of one value, one of them twice", {4},
          {{"start", Linear{6}},
           {"a", Linear{6}, {"start"}},
           {"b", Relu{}, {"start"}},
           {"twice", Add{}, {"start", "start"}},
           {"c", Linear{6}, {"start"}},
           {"ab", Add{}, {"a", "b"}},
           {"abc", Add{}, {"ab", "c"}},
           {"all", Add{}, {"abc", "twice"}}},
          {130}),
    graph("a value read flat and as an image", {3, 4, 4},
          {{"conv1", kSame5},
           {"flatten1", Flatten{}},
           {"conv2", kSame5, {"conv1"}},
           {"pool1", AvgPool{{2, 2}, {1, 1}}, {"conv1"}},
           {"flatten2", Flatten{}, {"conv2"}},
           {"add1", Add{}, {"flatten1", "flatten2"}},
           {"linear1", Linear{3}},
           {"flatten3", Flatten{}, {"pool1"}},
           {"linear2", Linear{3}},
           {"add2", Add{}, {"linear1", "linear2"}}},
          {40}),
    graph("the picture is an operand", {5, 6, 6},
          {{"conv1", kSame5},
           {"add1", Add{}, {"input", "conv1"}},
           {"flatten1", Flatten{}},
           {"linear1", Linear{3}}},
          {17}),
    graph("fast residual blocks, trimmed", {1, 13, 13},
          {{"conv1", Conv2d{16, {1, 1}}},
           {"relu1", Relu{}},
           {"conv2", kSame16},
           {"relu2", Relu{}},
           {"conv3", kSame16},
           {"add1", Add{}, {"relu1", "conv3"}},
           {"relu3", Relu{}},
           {"conv4", Conv2d{17, {3, 3}}},
           {"pool1", AvgPool{{3, 3}, {3, 3}}},
           {"conv5", Conv2d{17, {5, 5}, {3, 3}}, {"relu3"}},
           {"add2", Add{}, {"pool1", "conv5"}},
           {"flatten1", Flatten{}},
           {"linear1", Linear{5}}},
          {19, 70}, arithmetic::ConvolutionRule::fast),
    graph("a global average pool over a residual sum", {3, 13, 11},
          {{"conv1", kSame5},
           {"relu1", Relu{}},
           {"conv2", kSame5},
           {"add1", Add{}, {"relu1", "conv2"}},
           {"pool1", GlobalAvgPool{}},
           {"linear1", Linear{4}}},
          {37, 70}),
    graph("a global average pool of 2x2 that a convolution ends in", {3, 4, 4},
          {{"conv1", Conv2d{16, {3, 3}}},
           {"relu1", Relu{}},
           {"pool1", GlobalAvgPool{}},
           {"linear1", Linear{4}}},
          {33}),
};

// Steps in several segments over packs.
inline const std::vector<Case> kNormCases = {
    graph("batch norm with and without relu", {2, 5, 4},
          {{"conv1", kSame5},
           {"bn1", BatchNorm{}},
           {"relu1", Relu{}},
           {"conv2", Conv2d{17, {3, 3}, {2, 2}, {1, 1}}},
           {"bn2", BatchNorm{.ghost = 32}},
           {"flatten1", Flatten{}},
           {"linear1", Linear{4}}},
          {37, 70}),
    graph("a residual block of batch norms", {3, 6, 6},
          {{"bn0", BatchNorm{.ghost = 16}},
           {"conv1", kSame16},
           {"bn1", BatchNorm{}},
           {"relu1", Relu{}},
           {"conv2", kSame16},
           {"bn2", BatchNorm{.ghost = 48}},
           {"shortcut", Conv2d{16, {1, 1}}, {"bn0"}},
           {"bn3", BatchNorm{}},
           {"add1", Add{}, {"bn2", "bn3"}},
           {"relu2", Relu{}},
           {"pool1", GlobalAvgPool{}},
           {"linear1", Linear{5}}},
          {34, 130}, arithmetic::ConvolutionRule::fast),
};

inline const std::vector<Case> kDropoutCases = {
    {"dropout of images and of units",
     {2, 9, 7},
     {Conv2d{5, {3, 3}}, Relu{}, Dropout{0.3}, Conv2d{3, {2, 2}}, Dropout{0.5}, Flatten{}, Linear{9}, Relu{},
      Dropout{0.75}, Linear{4}}},
    {"dropout whose last row and column a pool drops",
     {1, 10, 12},
     {Conv2d{3, {2, 2}}, Relu{}, Dropout{0.4}, AvgPool{{2, 2}, {2, 2}}, Flatten{}, Linear{4}},
     {37, 130}},
    {"dropout of the picture, of the scores, and one that keeps all",
     {1, 5, 5},
     {Dropout{0.1}, Conv2d{3, {3, 3}}, Dropout{0}, Flatten{}, Linear{6}, Dropout{0.2}}},
    {"dropout of all but nothing",
     {3, 3, 3},
     {Conv2d{4, {2, 2}}, Dropout{1 - 0x1p-30}, Flatten{}, Linear{4}},
     {20}},
    {.name = "a dropped value with another reader",
     .input = {2, 6, 6},
     .layers = {},
     .examples = {37},
     .graph = {{"conv1", kSame5},
               {"dropout1", Dropout{0.5}},
               {"conv2", kSame5},
               {"dropout2", Dropout{0.25}},
               {"add1", Add{}, {"conv1", "dropout2"}},
               {"dropout3", Dropout{0.5}, {"add1"}},
               {"add2", Add{}, {"dropout3", "dropout1"}},
               {"flatten1", Flatten{}},
               {"linear1", Linear{3}}}},
};

inline const std::array kAllCases{&kCases, &kFastCases, &kGraphCases, &kNormCases, &kDropoutCases};

inline std::size_t step_cases() {
  std::size_t count = 0;
  for (const std::vector<Case>* cases : kAllCases) count += cases->size();
  return count;
}
inline const Case& step_case(std::size_t index) {
  for (const std::vector<Case>* cases : kAllCases) {
    if (index < cases->size()) return (*cases)[index];
    index -= cases->size();
  }
  throw Error(Fault::ours, "there is no case {}", index);
}

// A minibatch of a case, and its step as the naive twin takes it.
class StepOfCase {
 public:
  StepOfCase(const Case& c, int examples, unsigned seed) : model_(make_model(c)), examples_(examples) {
    std::mt19937 random(seed);
    const auto n = static_cast<std::size_t>(examples), pixels = static_cast<std::size_t>(c.input.elements());
    bytes_.resize(n * pixels);
    labels_.resize(n);
    for (std::uint8_t& b : bytes_) b = static_cast<std::uint8_t>(random());
    for (std::uint8_t& l : labels_)
      l = static_cast<std::uint8_t>(random() % static_cast<unsigned>(model::classes_of(model_)));
    for (std::size_t i = 0; i < n; ++i)
      order_.push_back(static_cast<std::uint32_t>(n - 1 - i));  // not the set's own order
    std::vector<float> images;
    std::vector<std::uint8_t> batch_labels;
    for (const std::uint32_t e : order_) {
      for (std::size_t p = 0; p < pixels; ++p)
        images.push_back(static_cast<float>(bytes_[e * pixels + p]) / 255.0f);
      batch_labels.push_back(labels_[e]);
    }
    std::normal_distribution<float> normal(0.0f, 0.3f);
    for (const model::Parameter& p : model::parameters_of(model_)) {
      Tensor& t = weights_.emplace_back(p.elements());
      for (float& v : t) v = normal(random);
    }
    expected_ =
        reference::train_step(model_, weights_, {images, batch_labels, {kSeed, kEpoch, order_}}, kRate);
  }

  // The device's step has the twin's bits. `plain`: neither trimmed nor fused.
  void expect_on(Device& device, Order run_order, bool plain) const {
    const int packs = arithmetic::pack_count(examples_);
    const program::Program p = program::checked_data_parallel(
        program::compile_training(model_, {.trim = !plain, .fuse = !plain}), {}, packs)[0];
    const auto executable = device.load(p, {.most_packs = packs, .order = run_order});
    for (std::size_t i = 0; i < weights_.size(); ++i) executable->upload(p.parameters[i], weights_[i]);
    run_step(*executable, p,
             {.minibatch = {bytes_.data(), labels_.data(), order_},
              .update = {kRate},
              .step = 9,
              .epoch = kEpoch,
              .seed = kSeed});
    float loss = 0;
    executable->download(p.loss, {&loss, 1});
    EXPECT_EQ(std::bit_cast<std::uint32_t>(loss), std::bit_cast<std::uint32_t>(expected_.loss));
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      Tensor gradient(expected_.gradients[i].size()), updated(weights_[i].size());
      if (!gradient.empty()) executable->download(p.gradients[i], gradient);
      executable->download(p.parameters[i], updated);
      const std::string& name = p.buffers[static_cast<std::size_t>(p.parameters[i])].name;
      ASSERT_EQ(bits_of(gradient), bits_of(expected_.gradients[i])) << name;
      ASSERT_EQ(bits_of(updated), bits_of(expected_.parameters[i])) << name;
    }
  }

 private:
  static constexpr float kRate = 0.1f;
  static constexpr int kEpoch = 3;
  static constexpr std::uint64_t kSeed = (std::uint64_t{5} << 32) + 7;
  const model::Model model_;
  const int examples_;
  std::vector<std::uint8_t> bytes_, labels_;
  std::vector<std::uint32_t> order_;
  std::vector<Tensor> weights_;
  reference::Step expected_;
};

}  // namespace lockstep::device
