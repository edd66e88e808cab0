#include "property/drawn_model.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "arithmetic/pack.h"
#include "base/divide.h"

namespace lockstep::property {
namespace {

// What fast convolution takes.
Block squared(Block b) {
  b.kernel_height = b.kernel_width = b.kernel_height < 3 && b.wide == 0 ? 5 : 3;
  b.channels = std::max(b.channels, b.wide != 0 ? 32 : 16);
  b.stride = 1;
  return b;
}

// One of the numbers of groups that divide the channels. What fast convolution takes has 16 channels a group,
// if the input has enough.
int groups_of(const Block& b, int in_channels) {
  if (b.groups == 0) return 1;
  std::vector<int> divisors;
  for (int groups = 2; groups <= in_channels; ++groups) {
    const bool fits = b.square == 0 || in_channels < 32 || in_channels / groups >= 16;
    if (in_channels % groups == 0 && fits) divisors.push_back(groups);
  }
  if (divisors.empty()) return 1;
  return divisors[static_cast<std::size_t>(b.groups - 1) % divisors.size()];
}

}  // namespace

DrawnModel::DrawnModel(const model::Shape& input, arithmetic::ConvolutionRule rule)
    : last_{std::string(model::kInputName), input} {
  model_.name = "drawn";
  model_.input = input;
  model_.convolution = rule;
  model_.sigma = 0.2;
  values_.push_back(last_);
}

void DrawnModel::add(const Block& drawn) {
  const Block block = drawn.square != 0 ? squared(drawn) : drawn;
  if (block.convolution == 0 && !flattened_) {
    layer("flatten", model::Flatten{});
    flattened_ = true;
  }
  const bool many_channels = block.square != 0 && (block.groups == Block::kWideGroups || block.wide != 0);
  if (many_channels && !flattened_ && last_.shape.channels < 32) convolution({.channels = 32});
  const Value start = last_;
  multiply(block);
  skip(block, start);
  if (block.pool != 0 && !flattened_) pool(block);
}

void DrawnModel::linear(const model::Linear& kind) {
  if (!flattened_) layer("flatten", model::Flatten{});
  flattened_ = true;
  multiplications_ += static_cast<std::int64_t>(last_.shape.elements()) * kind.out_units;
  layer("linear", kind);
}

void DrawnModel::norm(int drawn) {
  if (drawn != 0) layer("norm", model::BatchNorm{.ghost = (drawn - 1) * arithmetic::kPack});
}

void DrawnModel::layer(const char* kind, const model::LayerKind& layer, const std::vector<Value>& inputs) {
  model::LayerInputs in{kind, {}};
  std::vector<std::string> names;
  for (const Value& input : inputs) {
    in.inputs.push_back({input.name, input.shape});
    names.push_back(input.name);
  }
  if (names == std::vector{values_.back().name}) names.clear();  // the layer before
  const model::Shape shape = std::visit([&](const auto& k) { return k.output(in); }, layer);
  model_.layers.push_back({fmt::format("{}{}", kind, model_.layers.size() + 1), layer, names});
  last_ = {model_.layers.back().name, shape};
  values_.push_back(last_);
}

void DrawnModel::multiply(const Block& block) {
  if (flattened_) {
    linear({.out_units = block.channels + (block.wide != 0 ? 128 : 0), .bias = block.no_bias == 0});
  } else {
    convolution(block);
  }
  norm(block.norm);
  if (block.relu != 0) layer("relu", model::Relu{});
  constexpr std::array kDropped{0.0, 0.1, 0.5, 0.9};
  if (block.dropout != 0)
    layer("dropout", model::Dropout{kDropped[static_cast<std::size_t>(block.dropout) - 1]});
}

void DrawnModel::convolution(const Block& b) {
  const model::Shape in = last_.shape;
  const model::Extent kernel{std::min(b.kernel_height, in.height + 2 * b.padding),
                             std::min(b.kernel_width, in.width + 2 * b.padding)};
  const int groups = groups_of(b, in.channels);
  const int channels =
      round_up(std::max(b.channels, b.square != 0 && in.channels >= 32 ? 16 * groups : 1), groups);
  layer("conv", model::Conv2d{.out_channels = channels,
                              .kernel = kernel,
                              .stride = {b.stride, b.stride},
                              .padding = {b.padding, b.padding},
                              .groups = groups,
                              .bias = b.no_bias == 0});
  multiplications_ += static_cast<std::int64_t>(last_.shape.elements()) * (in.channels / groups) *
                      kernel.height * kernel.width;
}

void DrawnModel::pool(const Block& b) {
  const model::Shape in = last_.shape;
  const model::Extent window{std::min(b.window, in.height), std::min(b.window, in.width)};
  const int padding = std::min(b.pool_padding, std::min(window.height, window.width) - 1);
  const model::Extent stride{b.pool_stride, b.pool_stride}, pad{padding, padding};
  if (b.pool == 1) {
    layer("avg_pool", model::AvgPool{window, stride, pad});
  } else if (b.pool == 2) {
    layer("max_pool", model::MaxPool{window, stride, pad});
  } else {
    layer("global_pool", model::GlobalAvgPool{});
  }
}

void DrawnModel::skip(const Block& block, const Value& start) {
  const Value here = last_;
  switch (static_cast<Skip>(block.skip)) {
    case Skip::none:
      return;
    case Skip::residual:
      residual(block);
      layer("add", model::Add{}, {here, last_});
      break;
    case Skip::parallel:
      last_ = start;
      multiply(block);
      layer("add", model::Add{}, {last_, here});
      break;
    case Skip::older: {
      std::vector<Value> fitting;  // with `here` itself, which is then added to itself
      std::ranges::copy_if(values_, std::back_inserter(fitting),
                           [&](const Value& v) { return v.shape == here.shape; });
      const Value& older = fitting[static_cast<std::size_t>(block.older) % fitting.size()];
      layer("add", model::Add{}, {older, here});
      if (block.twice != 0) layer("add", model::Add{}, {older, last_});
      break;
    }
  }
  norm(block.skip_norm);
  if (block.skip_relu != 0) layer("relu", model::Relu{});
}

// Keeps the shape.
void DrawnModel::residual(const Block& block) {
  const int channels = last_.shape.channels;
  if (flattened_) {
    linear({.out_units = channels, .bias = block.no_bias == 0});
  } else {
    Block same = block;
    same.padding = std::max(1, block.padding);
    same.kernel_height = same.kernel_width = 2 * same.padding + 1;
    same.stride = 1;
    same.channels = channels;
    convolution(same);
  }
  norm(block.norm);
  if (block.relu != 0) layer("relu", model::Relu{});
}

}  // namespace lockstep::property
