#include "property/case.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lockstep::property {
namespace {

// A model grows layer by layer and knows what it costs.
class Builder {
 public:
  Builder(const model::Shape& input, bool fast) : shape_(input) {
    model_.name = "drawn";
    model_.input = input;
    model_.convolution = fast ? arithmetic::ConvolutionRule::fast : arithmetic::ConvolutionRule::direct;
    model_.sigma = 0.2;
  }

  void add(const Block& block) {
    if (block.convolution != 0 && !flattened_) {
      convolution(block.square != 0 ? squared(block) : block);
    } else {
      linear(block.channels + (block.wide != 0 ? 128 : 0));
    }
    if (block.relu != 0) layer("relu", model::Relu{});
    if (block.pool != 0 && !flattened_) pool(block);
  }

  void linear(int units) {
    if (!flattened_) layer("flatten", model::Flatten{});
    flattened_ = true;
    multiplications_ += static_cast<std::int64_t>(shape_.elements()) * units;
    layer("linear", model::Linear{units});
    shape_ = {units, 1, 1};
  }

  const model::Model& model() const { return model_; }
  std::int64_t multiplications() const { return multiplications_; }  // of one example forward

 private:
  void layer(const char* kind, const model::LayerKind& layer) {
    model_.layers.push_back({fmt::format("{}{}", kind, model_.layers.size() + 1), layer});
  }
  static Block squared(Block b) {
    b.kernel_height = b.kernel_width = b.kernel_height < 3 ? 5 : 3;
    b.channels = std::max(b.channels, 16);
    b.stride = 1;
    return b;
  }
  static int places(int size, int window, int stride, int padding) {
    return (size + 2 * padding - window) / stride + 1;
  }

  void convolution(const Block& b) {
    const model::Extent kernel{std::min(b.kernel_height, shape_.height + 2 * b.padding),
                               std::min(b.kernel_width, shape_.width + 2 * b.padding)};
    layer("conv", model::Conv2d{b.channels, kernel, {b.stride, b.stride}, {b.padding, b.padding}});
    const int inputs = shape_.channels;
    shape_ = {b.channels, places(shape_.height, kernel.height, b.stride, b.padding),
              places(shape_.width, kernel.width, b.stride, b.padding)};
    multiplications_ += static_cast<std::int64_t>(shape_.elements()) * inputs * kernel.height * kernel.width;
  }

  void pool(const Block& b) {
    const model::Extent window{std::min(b.window, shape_.height), std::min(b.window, shape_.width)};
    const int padding = std::min(b.pool_padding, std::min(window.height, window.width) - 1);
    const model::Extent stride{b.pool_stride, b.pool_stride}, pad{padding, padding};
    if (b.pool == 1) {
      layer("avg_pool", model::AvgPool{window, stride, pad});
    } else {
      layer("max_pool", model::MaxPool{window, stride, pad});
    }
    shape_.height = places(shape_.height, window.height, b.pool_stride, padding);
    shape_.width = places(shape_.width, window.width, b.pool_stride, padding);
  }

  model::Model model_;
  model::Shape shape_;
  bool flattened_ = false;
  std::int64_t multiplications_ = 0;
};

// Many packs are affordable where a picture has few pixels and a layer few channels: the stand-in for CUDA
// needs a second for ten million multiplications.
Case cut_down(Case c) {
  constexpr int kMostPixels = 2, kMostChannels = 2, kMostClasses = 4;
  c.height = std::min(c.height, kMostPixels);
  c.width = std::min(c.width, kMostPixels);
  c.channels = std::min(c.channels, kMostChannels);
  c.classes = std::min(c.classes, kMostClasses);
  if (c.blocks.size() > 1) c.blocks.resize(1);
  for (Block& block : c.blocks) {
    block.channels = std::min(block.channels, kMostChannels);
    block.wide = block.square = 0;
  }
  return c;
}

Builder build(const Case& drawn) {
  const Case c = drawn.many != 0 ? cut_down(drawn) : drawn;
  Builder builder({c.channels, c.height, c.width}, c.fast != 0);
  for (const Block& block : c.blocks) builder.add(block);
  builder.linear(c.classes);
  return builder;
}

struct LayerText {
  std::string operator()(const model::Conv2d& l) const {
    return fmt::format("conv {} of {}x{} stride {} padding {}", l.out_channels, l.kernel.height,
                       l.kernel.width, l.stride.height, l.padding.height);
  }
  std::string operator()(const model::Linear& l) const { return fmt::format("linear {}", l.out_units); }
  std::string operator()(const model::Relu&) const { return "relu"; }
  std::string operator()(const model::AvgPool& l) const { return "average" + pool(l); }
  std::string operator()(const model::MaxPool& l) const { return "maximum" + pool(l); }
  std::string operator()(const model::Flatten&) const { return "flatten"; }
  std::string operator()(const model::Add&) const { return "add"; }

  template <class Pool>
  static std::string pool(const Pool& l) {
    return fmt::format(" pool {}x{} stride {} padding {}", l.window.height, l.window.width, l.stride.height,
                       l.padding.height);
  }
};

}  // namespace

model::Model model_of(const Case& c) { return build(c).model(); }

int examples(const Case& c, std::size_t step) {
  if (step == 1 && c.last != 0) return 1;
  constexpr std::int64_t kMostMultiplications = 4'000'000;
  const std::int64_t most = std::max<std::int64_t>(1, kMostMultiplications / build(c).multiplications());
  const int wanted = c.drawn[step] + (c.many != 0 && step == 0 ? c.many : 0);
  return static_cast<int>(std::min<std::int64_t>(wanted, most));
}

int most_examples(const Case& c) { return std::max(examples(c, 0), examples(c, 1)); }

std::vector<double> shares(const Case& c) {
  std::vector<double> weights;
  for (int d = 0; c.shares != 0 && d < c.devices; ++d)
    weights.push_back(1 + (c.shares * 13 + d * d * 7 + c.seed) % 9);
  return weights;
}

std::ostream& operator<<(std::ostream& out, const Case& c) {
  constexpr std::array kNumbers{"", ", denormal numbers", ", negative zeros", ", huge numbers"};
  const model::Model model = model_of(c);
  out << fmt::format("input {}x{}x{}", model.input.channels, model.input.height, model.input.width);
  for (const model::Layer& layer : model.layers) out << ", " << std::visit(LayerText{}, layer.kind);
  return out << fmt::format(
             "; minibatches of {} and {}{}; {} devices of {} threads{}, {}, {} order{}{}{}{}{}{}; seed {}",
             examples(c, 0), examples(c, 1), c.last != 0 ? ", the last" : "", c.devices, c.threads,
             c.shares != 0 ? fmt::format(", shares {}", fmt::join(shares(c), ",")) : "",
             c.star != 0 ? "star" : "sharded", c.layer_order != 0 ? "layer" : "pack",
             c.momentum != 0 ? ", momentum" : "", c.shard_optimizer != 0 ? ", sharded optimizer" : "",
             c.unfused != 0 ? ", not fused" : "", c.fast != 0 ? ", fast" : "",
             kNumbers[static_cast<std::size_t>(c.numbers)],
             c.memory != 0 ? fmt::format(", 2^-{} of the memory", c.memory) : "", c.seed);
}

}  // namespace lockstep::property
