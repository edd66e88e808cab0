// The zoo's models in which a layer takes the layer before.
#include "model/zoo.h"

namespace lockstep::model {
namespace {

// The end of AlexNet and VGG: two wide layers with dropout, then the classes.
void append_wide_layers(std::vector<Layer>& layers, int relus, int classes) {
  const auto wide = [](int units) { return Linear{.out_units = units, .initial_weight = XavierUniform{}}; };
  layers.push_back({"flatten1", Flatten{}});
  for (const char* const number : {"1", "2"}) {
    layers.push_back({std::string("linear") + number, wide(4096)});
    layers.push_back({"relu" + std::to_string(++relus), Relu{}});
    layers.push_back({std::string("dropout") + number, Dropout{0.5}});
  }
  layers.push_back({"linear3", wide(classes)});
}

}  // namespace

Model lenet(const Pictures& pictures) {
  return {.name = "lenet",
          .input = pictures.shape,
          .layers = {{"conv1", Conv2d{.out_channels = 20, .kernel = {3, 3}}},
                     {"relu1", Relu{}},
                     {"pool1", AvgPool{.window = {2, 2}, .stride = {2, 2}}},
                     {"conv2", Conv2d{.out_channels = 50, .kernel = {5, 5}}},
                     {"relu2", Relu{}},
                     {"pool2", AvgPool{.window = {2, 2}, .stride = {2, 2}}},
                     {"flatten1", Flatten{}},
                     {"linear1", Linear{128}},
                     {"relu3", Relu{}},
                     {"linear2", Linear{pictures.classes}}}};
}

Model mlp(const Pictures& pictures) {
  return {.name = "mlp",
          .input = pictures.shape,
          .layers = {{"flatten1", Flatten{}},
                     {"linear1", Linear{256}},
                     {"relu1", Relu{}},
                     {"linear2", Linear{pictures.classes}}}};
}

Model alexnet(const Pictures& pictures) {
  constexpr MaxPool kPool{.window = {3, 3}, .stride = {2, 2}};
  const auto convolution = [](int channels, int kernel, int groups) {
    return Conv2d{.out_channels = channels,
                  .kernel = {kernel, kernel},
                  .padding = {kernel / 2, kernel / 2},
                  .groups = groups,
                  .initial_weight = XavierUniform{}};
  };
  Model model{.name = "alexnet",
              .input = pictures.shape,
              .layers = {{"conv1", Conv2d{.out_channels = 96,
                                          .kernel = {11, 11},
                                          .stride = {4, 4},
                                          .padding = {2, 2},
                                          .initial_weight = XavierUniform{}}},
                         {"relu1", Relu{}},
                         {"pool1", kPool},
                         {"conv2", convolution(256, 5, 2)},
                         {"relu2", Relu{}},
                         {"pool2", kPool},
                         {"conv3", convolution(384, 3, 1)},
                         {"relu3", Relu{}},
                         {"conv4", convolution(384, 3, 2)},
                         {"relu4", Relu{}},
                         {"conv5", convolution(256, 3, 2)},
                         {"relu5", Relu{}},
                         {"pool3", kPool}}};
  append_wide_layers(model.layers, 5, pictures.classes);
  return model;
}

Model vgg11(const Pictures& pictures) {
  struct Block {
    int convolutions, channels;
  };
  Model model{.name = "vgg11", .input = pictures.shape, .layers = {}};
  int convolutions = 0, pools = 0;
  for (const Block& block : {Block{1, 64}, Block{1, 128}, Block{2, 256}, Block{2, 512}, Block{2, 512}}) {
    for (int i = 0; i < block.convolutions; ++i) {
      const std::string number = std::to_string(++convolutions);
      model.layers.push_back({"conv" + number, Conv2d{.out_channels = block.channels,
                                                      .kernel = {3, 3},
                                                      .padding = {1, 1},
                                                      .initial_weight = XavierUniform{}}});
      model.layers.push_back({"relu" + number, Relu{}});
    }
    model.layers.push_back({"pool" + std::to_string(++pools), MaxPool{.window = {2, 2}, .stride = {2, 2}}});
  }
  append_wide_layers(model.layers, convolutions, pictures.classes);
  return model;
}

}  // namespace lockstep::model
