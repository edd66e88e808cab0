#include "model/zoo.h"

#include <array>

#include "base/error.h"
#include "base/nearest.h"

namespace lockstep::model {
namespace {

struct Entry {
  std::string_view name;
  Model (*build)();
};
constexpr std::array kZoo{Entry{"lenet", lenet}, Entry{"mlp", mlp}, Entry{"resnet8", resnet8}};

// Behind the convolution stands a batch norm, whose shift is the bias.
Conv2d convolution_before_norm(int channels, int stride) {
  return {.out_channels = channels,
          .kernel = {3, 3},
          .stride = {stride, stride},
          .padding = {1, 1},
          .bias = false,
          .initial_weight = KaimingUniform{}};
}

// Two convolutions with batch norm, whose result is added to what the block takes. A block with a stride
// makes the picture smaller: there a convolution of 1x1 brings the other addend to the same shape.
void append_residual_block(Model& model, const std::string& name, int channels, int stride) {
  const std::string input = model.layers.back().name;
  const auto named = [&](const char* layer) { return name + "_" + layer; };
  std::vector<Layer>& layers = model.layers;
  layers.push_back({named("conv1"), convolution_before_norm(channels, stride)});
  layers.push_back({named("norm1"), BatchNorm{}});
  layers.push_back({named("relu1"), Relu{}});
  layers.push_back({named("conv2"), convolution_before_norm(channels, 1)});
  layers.push_back({named("norm2"), BatchNorm{}});
  std::string addend = input;
  if (stride != 1) {
    addend = named("shortcut");
    layers.push_back({addend,
                      Conv2d{.out_channels = channels,
                             .kernel = {1, 1},
                             .stride = {stride, stride},
                             .initial_weight = KaimingUniform{}},
                      {input}});
  }
  layers.push_back({named("add"), Add{}, {named("norm2"), addend}});
  layers.push_back({named("relu2"), Relu{}});
}

}  // namespace

Model lenet() {
  return {.name = "lenet",
          .input = {1, 28, 28},
          .layers = {{"conv1", Conv2d{.out_channels = 20, .kernel = {3, 3}}},
                     {"relu1", Relu{}},
                     {"pool1", AvgPool{.window = {2, 2}, .stride = {2, 2}}},
                     {"conv2", Conv2d{.out_channels = 50, .kernel = {5, 5}}},
                     {"relu2", Relu{}},
                     {"pool2", AvgPool{.window = {2, 2}, .stride = {2, 2}}},
                     {"flatten1", Flatten{}},
                     {"linear1", Linear{128}},
                     {"relu3", Relu{}},
                     {"linear2", Linear{10}}}};
}

Model mlp() {
  return {.name = "mlp",
          .input = {1, 28, 28},
          .layers = {
              {"flatten1", Flatten{}}, {"linear1", Linear{256}}, {"relu1", Relu{}}, {"linear2", Linear{10}}}};
}

Model resnet8() {
  Model model{
      .name = "resnet8",
      .input = {1, 28, 28},
      .layers = {{"conv1", convolution_before_norm(16, 1)}, {"norm1", BatchNorm{}}, {"relu1", Relu{}}}};
  append_residual_block(model, "block1", 16, 1);
  append_residual_block(model, "block2", 32, 2);
  append_residual_block(model, "block3", 64, 2);
  model.layers.push_back({"pool1", GlobalAvgPool{}});
  model.layers.push_back({"flatten1", Flatten{}});
  model.layers.push_back({"linear1", Linear{.out_units = 10, .initial_weight = KaimingUniform{}}});
  return model;
}

std::vector<std::string> zoo_names() {
  std::vector<std::string> names;
  names.reserve(kZoo.size());
  for (const Entry& entry : kZoo) names.emplace_back(entry.name);
  return names;
}

Model zoo_model(std::string_view name) {
  for (const Entry& entry : kZoo) {
    if (entry.name == name) return entry.build();
  }
  throw Error(Fault::usage, "there is no model named '{}'{}", name, suggestion(name, zoo_names()));
}

}  // namespace lockstep::model
