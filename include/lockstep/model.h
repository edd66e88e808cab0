// A network: the pictures it takes and its layers, without numbers. The layers form a graph. The loss is
// softmax cross entropy over what the last layer gives.
#pragma once
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace lockstep {
inline namespace api {

struct Extent {
  int height = 1, width = 1;
};

// What a parameter starts with. Fan in: inputs that make one output; fan out: outputs that one input goes
// into.
struct Normal {  // N(0, sigma)
  double sigma = 0.01;
};
struct KaimingUniform {};  // even in +-sqrt(6 / fan in): for layers before a relu
struct XavierUniform {};   // even in +-sqrt(6 / (fan in + fan out))
struct Constant {
  float value = 0;
};
using InitialValues = std::variant<Normal, KaimingUniform, XavierUniform, Constant>;

struct Conv2d {
  int out_channels = 1;
  Extent kernel = {};
  Extent stride = {1, 1};
  Extent padding = {0, 0};  // zeros, the same on both sides
  int groups = 1;           // outputs of a group take the input channels of the same group
  bool bias = true;
  std::optional<InitialValues> initial_weight = {}, initial_bias = {};  // nothing: see Model::sigma
};
struct Linear {
  int out_units = 1;
  bool bias = true;
  std::optional<InitialValues> initial_weight = {}, initial_bias = {};
};
struct Relu {};
struct AvgPool {
  Extent window = {2, 2};
  Extent stride = {2, 2};
  Extent padding = {0, 0};
};
struct MaxPool {
  Extent window = {2, 2};
  Extent stride = {2, 2};
  Extent padding = {0, 0};
};
struct GlobalAvgPool {};  // the mean of each channel
struct Flatten {};
struct Add {};  // the sum of two inputs of the same shape
struct BatchNorm {
  int ghost = 0;  // consecutive examples that share statistics, a multiple of 16; 0: the whole minibatch
  double eps = 1e-5;
  double momentum = 0.1;  // the part of a running statistic that a group replaces
};
struct Dropout {
  double p = 0.5;  // of an element to be zeroed in training, from 0 and below 1; evaluation keeps all
};

using LayerKind =
    std::variant<Conv2d, Linear, Relu, AvgPool, MaxPool, GlobalAvgPool, Flatten, Add, BatchNorm, Dropout>;

// A kind alone is a layer that takes the layer before: Relu{}. A layer that takes others names them:
// {Add{}, {"relu1", "conv2"}}. A layer without a name of its own is called by its kind and number: conv1,
// linear1, relu1, pool1 (all pools), flatten1, add1, norm1, dropout1. "input" is the picture.
struct Layer {
  template <class Kind>
    requires std::constructible_from<LayerKind, Kind>
  Layer(Kind of_kind, std::vector<std::string> from = {})  // NOLINT(google-explicit-constructor)
      : kind(of_kind), inputs(std::move(from)) {}
  Layer(std::string own_name, LayerKind of_kind, std::vector<std::string> from = {})
      : name(std::move(own_name)), kind(of_kind), inputs(std::move(from)) {}

  std::string name = {};
  LayerKind kind;
  std::vector<std::string> inputs = {};  // layers that stand before this one; empty: the layer before
};

// How convolutions are computed. The bits depend on it.
enum class Convolution {
  fast,    // Winograd's algorithm in the layers where it pays
  direct,  // in none
};

struct Model {
  std::string name = "model";
  int channels = 1, height = 28, width = 28;  // of a picture
  std::vector<Layer> layers = {};
  double sigma = 0.01;  // where a layer names no initial values, weights start as N(0, sigma), biases as 0
  std::optional<Convolution> convolution = {};  // nothing: as `lockstep train` without --convolution
};

// The book's LeNet.
Model lenet();

// What a model takes and tells apart.
struct PictureSizes {
  int channels = 1, height = 28, width = 28;
  int classes = 10;
};

// One of the models that ship with Lockstep: lenet, mlp, resnet8, resnet18, alexnet, vgg11; for 10 classes of
// 1x28x28, alexnet of 3x64x64, vgg11 of 3x32x32. Throws Error(usage) with the nearest name.
Model zoo_model(std::string_view name);

// The same for pictures of these sizes. Throws Error(usage) that says which the model takes if they are too
// small, and names the layer and the shapes that do not fit.
Model zoo_model(std::string_view name, const PictureSizes& pictures);

}  // namespace api
}  // namespace lockstep
