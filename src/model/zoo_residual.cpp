// The zoo's residual networks.
#include "model/zoo.h"

namespace lockstep::model {
namespace {

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

// The book's: names of its PyTorch modules, a bias in every convolution, initial values of the model.
Conv2d book_convolution(int channels, int kernel, int stride) {
  return {.out_channels = channels,
          .kernel = {kernel, kernel},
          .stride = {stride, stride},
          .padding = {kernel / 2, kernel / 2}};
}

void append_book_block(Model& model, const std::string& name, int channels, int stride) {
  const std::string input = model.layers.back().name;
  const auto named = [&](const char* layer) { return name + "." + layer; };
  std::vector<Layer>& layers = model.layers;
  layers.push_back({named("conv1"), book_convolution(channels, 3, stride)});
  layers.push_back({named("bn1"), BatchNorm{}});
  layers.push_back({named("relu1"), Relu{}});
  layers.push_back({named("conv2"), book_convolution(channels, 3, 1)});
  layers.push_back({named("bn2"), BatchNorm{}});
  std::string addend = input;
  if (stride != 1) {
    addend = named("conv3");
    layers.push_back({addend, book_convolution(channels, 1, stride), {input}});
  }
  layers.push_back({named("add"), Add{}, {named("bn2"), addend}});
  layers.push_back({named("relu2"), Relu{}});
}

}  // namespace

Model resnet8(const Pictures& pictures) {
  Model model{
      .name = "resnet8",
      .input = pictures.shape,
      .layers = {{"conv1", convolution_before_norm(16, 1)}, {"norm1", BatchNorm{}}, {"relu1", Relu{}}}};
  append_residual_block(model, "block1", 16, 1);
  append_residual_block(model, "block2", 32, 2);
  append_residual_block(model, "block3", 64, 2);
  model.layers.push_back({"pool1", GlobalAvgPool{}});
  model.layers.push_back({"flatten1", Flatten{}});
  model.layers.push_back(
      {"linear1", Linear{.out_units = pictures.classes, .initial_weight = KaimingUniform{}}});
  return model;
}

Model resnet18(const Pictures& pictures) {
  struct Group {
    const char* name;
    int channels, stride;  // of its first block
  };
  Model model{.name = "resnet18",
              .input = pictures.shape,
              .layers = {{"0", book_convolution(64, 3, 1)}, {"1", BatchNorm{}}, {"2", Relu{}}}};
  for (const Group& group : {Group{"resnet_block1", 64, 1}, Group{"resnet_block2", 128, 2},
                             Group{"resnet_block3", 256, 2}, Group{"resnet_block4", 512, 2}}) {
    append_book_block(model, std::string(group.name) + ".0", group.channels, group.stride);
    append_book_block(model, std::string(group.name) + ".1", group.channels, 1);
  }
  model.layers.push_back({"global_avg_pool", GlobalAvgPool{}});
  model.layers.push_back({"fc.0", Flatten{}});
  model.layers.push_back({"fc.1", Linear{pictures.classes}});
  return model;
}

}  // namespace lockstep::model
