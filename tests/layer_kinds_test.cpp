// Every kind of layer, and every form of one, against every place that must know it: shape rule, naive twin,
// gradient in double, CPU kernels, GPU kernels, random cases. The list of kinds is the variant's own: a kind
// that has no example here does not compile.
#include <set>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "cpu/cpu_device.h"
#include "cpu/kernels.h"
#include "device/steps_for_test.h"
#include "gpu_devices_for_test.h"
#include "model/text.h"
#include "property/draw.h"
#include "reference/check_gradients_for_test.h"

namespace lockstep {
namespace {

using device::Order;
using model::Add, model::AvgPool, model::BatchNorm, model::Conv2d, model::Dropout, model::Flatten,
    model::GlobalAvgPool, model::Linear, model::MaxPool, model::Relu;

// A small model around one layer of the kind, named "tested". A layer with parameters stands before it, so
// that its input gradient matters.
struct Example {
  std::string name;
  std::vector<model::Layer> layers;
  model::Shape expected;  // what the tested layer gives
  bool (*holds)(const model::LayerKind&);

  static model::Shape input() { return {2, 7, 6}; }
  model::Model model() const { return {.name = name, .input = input(), .layers = layers}; }
  device::Case step_case() const {
    return device::graph(name.c_str(), input(), layers, {37}, arithmetic::ConvolutionRule::direct);
  }
};

std::ostream& operator<<(std::ostream& out, const Example& example) { return out << example.name; }

// Behind a convolution that gives 3x6x5.
Example behind_convolution(std::string name, const model::LayerKind& kind, const model::Shape& expected) {
  return {std::move(name),
          {{"before", Conv2d{3, {2, 2}}}, {"tested", kind}, {"flatten", Flatten{}}, {"last", Linear{4}}},
          expected,
          nullptr};
}

template <class Kind>
Example example() = delete;

template <>
Example example<Conv2d>() {
  return behind_convolution("Conv2d", Conv2d{5, {3, 2}, {2, 1}, {1, 1}}, {5, 3, 6});
}
template <>
Example example<Linear>() {
  return {"Linear",
          {{"flatten", Flatten{}}, {"before", Linear{9}}, {"tested", Linear{7}}, {"last", Linear{4}}},
          {7},
          nullptr};
}
template <>
Example example<Relu>() {
  return behind_convolution("Relu", Relu{}, {3, 6, 5});
}
template <>
Example example<AvgPool>() {
  return behind_convolution("AvgPool", AvgPool{{3, 2}, {2, 2}, {1, 0}}, {3, 3, 2});
}
template <>
Example example<MaxPool>() {
  return behind_convolution("MaxPool", MaxPool{{2, 2}, {2, 1}, {0, 1}}, {3, 3, 6});
}
template <>
Example example<GlobalAvgPool>() {
  return behind_convolution("GlobalAvgPool", GlobalAvgPool{}, {3, 1, 1});
}
template <>
Example example<Flatten>() {
  return {
      "Flatten", {{"before", Conv2d{3, {2, 2}}}, {"tested", Flatten{}}, {"last", Linear{4}}}, {90}, nullptr};
}
template <>
Example example<Add>() {
  return {"Add",
          {{"before", Conv2d{3, {2, 2}}},
           {"branch", Conv2d{3, {3, 3}, {1, 1}, {1, 1}}},
           {"relu", Relu{}},
           {"tested", Add{}, {"before", "relu"}},
           {"flatten", Flatten{}},
           {"last", Linear{4}}},
          {3, 6, 5},
          nullptr};
}
template <>
Example example<BatchNorm>() {
  return behind_convolution("BatchNorm", BatchNorm{.ghost = 16}, {3, 6, 5});
}

template <>
Example example<Dropout>() {
  return behind_convolution("Dropout", Dropout{0.4}, {3, 6, 5});
}

template <class Kind>
bool without_bias(const model::LayerKind& kind) {
  const auto* const layer = std::get_if<Kind>(&kind);
  return layer != nullptr && !layer->bias;
}

bool with_groups(const model::LayerKind& kind) {
  const auto* const convolution = std::get_if<Conv2d>(&kind);
  return convolution != nullptr && convolution->groups > 1;
}

bool over_the_minibatch(const model::LayerKind& kind) {
  const auto* const norm = std::get_if<BatchNorm>(&kind);
  return norm != nullptr && norm->ghost == 0;
}

// Further forms of kinds.
std::vector<Example> forms() {
  Example convolution = behind_convolution(
      "Conv2dWithoutBias",
      Conv2d{.out_channels = 5, .kernel = {3, 2}, .stride = {2, 1}, .padding = {1, 1}, .bias = false},
      {5, 3, 6});
  convolution.holds = without_bias<Conv2d>;
  Example linear = example<Linear>();
  linear.name = "LinearWithoutBias";
  linear.layers[2].kind = Linear{.out_units = 7, .bias = false};
  linear.holds = without_bias<Linear>;
  Example groups = behind_convolution(
      "Conv2dWithGroups",
      Conv2d{.out_channels = 6, .kernel = {3, 2}, .stride = {2, 1}, .padding = {1, 1}, .groups = 3},
      {6, 3, 6});
  groups.holds = with_groups;
  Example norm = behind_convolution("BatchNormOverTheMinibatch", BatchNorm{}, {3, 6, 5});
  norm.holds = over_the_minibatch;
  return {std::move(convolution), std::move(linear), std::move(groups), std::move(norm)};
}

std::vector<Example> examples() {
  const auto all = []<class... Kinds>(std::variant<Kinds...>*) {
    std::vector<Example> list{example<Kinds>()...};
    std::size_t i = 0;
    ((list[i++].holds = [](const model::LayerKind& k) { return std::holds_alternative<Kinds>(k); }), ...);
    return list;
  };
  std::vector<Example> list = all(static_cast<model::LayerKind*>(nullptr));
  std::ranges::copy(forms(), std::back_inserter(list));
  return list;
}

class LayerKinds : public testing::TestWithParam<Example> {
 protected:
  static void TearDownTestSuite() {
    for (GpuKind& kind : gpu_kinds()) kind.devices.clear();
  }
};

TEST_P(LayerKinds, HasAShapeRule) {
  const model::Model model = GetParam().model();
  const auto tested = std::ranges::find(model.layers, "tested", &model::Layer::name);
  ASSERT_TRUE(GetParam().holds(tested->kind)) << "the example has a layer of another kind";
  const auto value = static_cast<std::size_t>(tested - model.layers.begin()) + 1;
  EXPECT_EQ(model::infer_shapes(model)[value], GetParam().expected);
}

TEST_P(LayerKinds, HasATwinWithTheGradientOfTheNetworkInDouble) {
  reference::check_gradients(GetParam().model());
}

TEST_P(LayerKinds, HasKernelsForEveryInstructionSet) {
  const device::StepOfCase step(GetParam().step_case(), 37, 1);
  for (const cpu::Kernels* kernels : cpu::usable_kernels()) {
    const auto device = cpu::make_cpu_device({.threads = 2, .target = std::string(kernels->name)});
    for (const bool plain : {false, true}) step.expect_on(*device, Order::pack, plain);
  }
}

TEST_P(LayerKinds, HasGpuKernels) {
  const device::StepOfCase step(GetParam().step_case(), 37, 1);
  for (const GpuKind& kind : gpu_kinds()) {
    SCOPED_TRACE(kind.name);
    if (!kind.devices.empty()) step.expect_on(*kind.devices.front(), Order::pack, true);
  }
}

TEST_P(LayerKinds, IsDrawnInRandomCases) {
  constexpr int kCases = 200, kLeast = 10;
  int found = 0;
  rc::Random random(1);
  for (int i = 0; i < kCases; ++i) {
    const property::Case drawn = property::any_case()(random.split(), rc::kNominalSize).value();
    found += std::ranges::any_of(property::model_of(drawn).layers,
                                 [](const model::Layer& layer) { return GetParam().holds(layer.kind); });
  }
  EXPECT_GE(found, kLeast) << "of " << kCases;
}

// A model's text is hashed, and every form of a layer gives other bits.
TEST(LayerKindsText, IsAnotherForEveryForm) {
  std::set<std::string> texts;
  for (const Example& example : examples()) {
    const auto tested = std::ranges::find(example.layers, "tested", &model::Layer::name);
    EXPECT_TRUE(texts.insert(model::text_of(tested->kind)).second) << example;
  }
}

INSTANTIATE_TEST_SUITE_P(All, LayerKinds, testing::ValuesIn(examples()),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace lockstep
