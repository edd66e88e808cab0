#include "property/case.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "arithmetic/pack.h"
#include "model/example_groups.h"
#include "property/drawn_model.h"

namespace lockstep::property {
namespace {

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

DrawnModel build(const Case& drawn) {
  const Case c = drawn.many != 0 ? cut_down(drawn) : drawn;
  DrawnModel model({c.channels, c.height, c.width},
                   c.fast != 0 ? arithmetic::ConvolutionRule::fast : arithmetic::ConvolutionRule::direct);
  model.norm(c.input_norm);
  for (const Block& block : c.blocks) model.add(block);
  model.linear({c.classes});
  return model;
}

struct LayerText {
  std::string operator()(const model::Conv2d& l) const {
    return fmt::format("conv {} of {}x{} stride {} padding {}{}{}", l.out_channels, l.kernel.height,
                       l.kernel.width, l.stride.height, l.padding.height,
                       l.groups == 1 ? "" : fmt::format(" in {} groups", l.groups), bias(l));
  }
  std::string operator()(const model::Linear& l) const {
    return fmt::format("linear {}{}", l.out_units, bias(l));
  }
  std::string operator()(const model::Relu&) const { return "relu"; }
  std::string operator()(const model::AvgPool& l) const { return "average" + pool(l); }
  std::string operator()(const model::MaxPool& l) const { return "maximum" + pool(l); }
  std::string operator()(const model::GlobalAvgPool&) const { return "global average pool"; }
  std::string operator()(const model::Flatten&) const { return "flatten"; }
  std::string operator()(const model::Add&) const { return "add"; }
  std::string operator()(const model::BatchNorm& l) const {
    return l.ghost == 0 ? "batch norm" : fmt::format("batch norm of {} examples", l.ghost);
  }
  std::string operator()(const model::Dropout& l) const { return fmt::format("dropout {}", l.p); }

  static std::string_view bias(const auto& l) { return l.bias ? "" : " without bias"; }
  template <class Pool>
  static std::string pool(const Pool& l) {
    return fmt::format(" pool {}x{} stride {} padding {}", l.window.height, l.window.width, l.stride.height,
                       l.padding.height);
  }
};

// Examples of a step, whatever its batch norms.
int drawn_examples(const Case& c, const DrawnModel& model, std::size_t step) {
  if (step == 1 && c.last != 0) return 1;
  constexpr std::int64_t kMostMultiplications = 4'000'000;
  const std::int64_t most = std::max<std::int64_t>(1, kMostMultiplications / model.multiplications());
  const int wanted = c.drawn[step] + (c.many != 0 && step == 0 ? c.many : 0);
  return static_cast<int>(std::min<std::int64_t>(wanted, most));
}

// Has a group of this minibatch one value for each channel? It is always the last one.
bool has_single_values(const model::Model& model, int examples) {
  const auto count = static_cast<std::size_t>(examples);
  return std::ranges::any_of(model::example_groups_of(model), [&](const model::ExampleGroups& groups) {
    const std::size_t last = groups.examples == 0 ? count : (count - 1) % groups.examples + 1;
    return last * groups.values == 1;
  });
}

}  // namespace

model::Model model_of(const Case& c) {
  const DrawnModel drawn = build(c);
  const int most = std::max(drawn_examples(c, drawn, 0), drawn_examples(c, drawn, 1));
  model::Model model = drawn.model();
  for (model::Layer& layer : model.layers) {
    if (auto* const norm = std::get_if<model::BatchNorm>(&layer.kind))
      norm->ghost = std::min(norm->ghost, most / arithmetic::kPack * arithmetic::kPack);
  }
  return model;
}

int examples(const Case& c, std::size_t step) {
  const int drawn = drawn_examples(c, build(c), step);
  return has_single_values(model_of(c), drawn) ? drawn + 1 : drawn;
}

int most_examples(const Case& c) { return std::max(examples(c, 0), examples(c, 1)); }

std::vector<double> shares(const Case& c) {
  std::vector<double> weights;
  for (int d = 0; c.shares != 0 && d < c.devices; ++d)
    weights.push_back(1 + (c.shares * 13 + d * d * 7 + c.seed) % 9);
  return weights;
}

reference::UpdateOptions update_of(const Case& c) {
  const arithmetic::UpdateRule& rule = arithmetic::update_rule(rule_of(c));
  const auto schedule = static_cast<arithmetic::ScheduleKind>(c.schedule);
  reference::UpdateOptions options{.optimizer = {.kind = rule.kind, .weight_decay = c.decay / 100.0},
                                   .schedule = {.kind = schedule, .warmup = c.warmup},
                                   .learning_rate = 0.1f,
                                   .steps_per_epoch = kStepsPerEpoch,
                                   .epochs = kEpochs};
  if (rule.takes_momentum) options.optimizer.momentum = 0.9f;
  if (schedule == arithmetic::ScheduleKind::step) {
    options.schedule.step_epochs = 1 + c.seed % 3;
    options.schedule.step_factor = 0.3;
  }
  if (schedule == arithmetic::ScheduleKind::cosine) options.schedule.lr_min = 0.01;
  return options;
}

std::ostream& operator<<(std::ostream& out, const Case& c) {
  constexpr std::array kNumbers{"", ", denormal numbers", ", negative zeros", ", huge numbers"};
  const model::Model model = model_of(c);
  out << fmt::format("input {}x{}x{}", model.input.channels, model.input.height, model.input.width);
  for (const model::Layer& layer : model.layers) {
    out << fmt::format(", {}: {}", layer.name, std::visit(LayerText{}, layer.kind));
    if (!layer.inputs.empty()) out << fmt::format(" of {}", fmt::join(layer.inputs, " and "));
  }
  return out << fmt::format(
             "; minibatches of {} and {}{}; {} devices of {} threads{}, {}, {} order, {}, decay {}, {} "
             "schedule, warm-up {}, after "
             "step {}{}{}{}{}{}{}; seed {}",
             examples(c, 0), examples(c, 1), c.last != 0 ? ", the last" : "", c.devices, c.threads,
             c.shares != 0 ? fmt::format(", shares {}", fmt::join(shares(c), ",")) : "",
             c.star != 0 ? "star" : "sharded", c.layer_order != 0 ? "layer" : "pack",
             arithmetic::update_rule(rule_of(c)).name, update_of(c).optimizer.weight_decay,
             arithmetic::name_of(update_of(c).schedule.kind), c.warmup, c.done,
             c.shard_optimizer != 0 ? ", sharded optimizer" : "", c.unfused != 0 ? ", not fused" : "",
             c.fast != 0 ? ", fast" : "", kNumbers[static_cast<std::size_t>(c.numbers)],
             c.memory != 0 ? fmt::format(", 2^-{} of the memory", c.memory) : "",
             c.bucket != 0 ? fmt::format(", buckets of {}", c.bucket) : "", c.seed);
}

}  // namespace lockstep::property
