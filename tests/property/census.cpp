#include "property/census.h"

#include <algorithm>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "arithmetic/algorithm.h"

namespace lockstep::property {
namespace {

template <class Test>
bool any_packs(const Outcome& outcome, Test test) {
  for (const std::vector<int>& of_step : outcome.packs) {
    for (std::size_t d = 0; d < of_step.size(); ++d) {
      if (test(of_step[d], outcome.gpus[d])) return true;
    }
  }
  return false;
}

bool packs_between(const Case& c, int least, int most) {
  for (std::size_t step = 0; step < kSteps; ++step) {
    const int packs = (examples(c, step) + 15) / 16;
    if (packs >= least && packs <= most) return true;
  }
  return false;
}

template <class Kind, class Test>
bool any_layer(const Case& c, Test test) {
  return std::ranges::any_of(model_of(c).layers, [&](const model::Layer& layer) {
    const Kind* const kind = std::get_if<Kind>(&layer.kind);
    return kind != nullptr && test(*kind);
  });
}

template <class Test>
bool any_algorithm(const Case& c, Test test) {
  const model::Model model = model_of(c);
  const std::vector<model::Shape> shapes = model::infer_shapes(model);
  const std::vector<std::vector<int>> inputs = model::inputs_of(model);
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const auto* const conv = std::get_if<model::Conv2d>(&model.layers[i].kind);
    if (conv == nullptr) continue;
    const model::Shape& in = shapes[static_cast<std::size_t>(inputs[i].front())];
    const arithmetic::ConvolutionShape shape{
        in.channels,          conv->out_channels,  in.height,           in.width,
        conv->kernel.height,  conv->kernel.width,  conv->stride.height, conv->stride.width,
        conv->padding.height, conv->padding.width, conv->groups};
    if (test(arithmetic::algorithms_for(shape, model.convolution), *conv)) return true;
  }
  return false;
}

// A group for each of several input channels.
bool any_depthwise(const Case& c) {
  const model::Model model = model_of(c);
  return std::ranges::any_of(model::parameters_of(model), [&](const model::Parameter& parameter) {
    const auto* const conv =
        std::get_if<model::Conv2d>(&model.layers[static_cast<std::size_t>(parameter.layer)].kind);
    return conv != nullptr && conv->groups > 1 && parameter.shape.size() > 1 && parameter.shape[1] == 1;
  });
}

// Of the value with most.
int most_readers(const Case& c) {
  const std::vector<std::vector<int>> inputs = model::inputs_of(model_of(c));
  std::vector<int> readers(inputs.size() + 1, 0);
  for (const std::vector<int>& values : inputs) {
    for (const int value : values) ++readers[static_cast<std::size_t>(value)];
  }
  return std::ranges::max(readers);
}

// A kind of layer without a name here does not compile.
std::string name_of(const model::Conv2d&) { return "convolution"; }
std::string name_of(const model::Linear&) { return "linear"; }
std::string name_of(const model::Relu&) { return "relu"; }
std::string name_of(const model::AvgPool&) { return "average pool"; }
std::string name_of(const model::MaxPool&) { return "max pool"; }
std::string name_of(const model::GlobalAvgPool&) { return "global average pool"; }
std::string name_of(const model::Flatten&) { return "flatten"; }
std::string name_of(const model::Add&) { return "add"; }
std::string name_of(const model::BatchNorm&) { return "batch norm"; }
std::string name_of(const model::Dropout&) { return "dropout"; }

using arithmetic::ConvolutionAlgorithms;
using arithmetic::WeightGradientAlgorithm;

bool pads(const model::Conv2d& conv) { return conv.padding.height > 0; }
bool strides(const model::Conv2d& conv) { return conv.stride.height > 1; }
bool unbiased(const auto& layer) { return !layer.bias; }
bool has_groups(const model::Conv2d& conv) { return conv.groups > 1; }
bool always(const auto&) { return true; }

// Then a GPU keeps what all its packs give.
bool has_norm(const Case& c) { return any_layer<model::BatchNorm>(c, always<model::BatchNorm>); }

bool any(const Case&, const Outcome&) { return true; }
bool beside_cpus(const Case&, const Outcome& o) { return std::ranges::count(o.gpus, false) > 0; }

}  // namespace

Census::Census(const std::vector<std::string>& gpu_kinds)
    : rows_{
          {"1 pack", [](const Case& c, const Outcome&) { return packs_between(c, 1, 1); }},
          {"2 to 8 packs", [](const Case& c, const Outcome&) { return packs_between(c, 2, 8); }},
          {"9 to 32 packs", [](const Case& c, const Outcome&) { return packs_between(c, 9, 32); }},
          {"33 to 64 packs", [](const Case& c, const Outcome&) { return packs_between(c, 33, 64); }},
          {"over 64 packs", [](const Case& c, const Outcome&) { return packs_between(c, 65, 1000); }},
          {"last minibatch of 1",
           [](const Case& c, const Outcome&) { return c.last != 0 && examples(c, 1) == 1; }},
          {"1 device", [](const Case& c, const Outcome&) { return c.devices == 1; }},
          {"2 to 4 devices", [](const Case& c, const Outcome&) { return c.devices > 1 && c.devices < 5; }},
          {"over 4 devices", [](const Case& c, const Outcome&) { return c.devices > 4; }},
          {"a device without packs",
           [](const Case&, const Outcome& o) {
             return any_packs(o, [](int packs, bool) { return packs == 0; });
           }},
          {"unequal shares", [](const Case& c, const Outcome&) { return c.shares != 0 && c.devices > 1; }},
          {"exchange sharded", [](const Case& c, const Outcome&) { return c.star == 0 && c.devices > 1; }},
          {"exchange star", [](const Case& c, const Outcome&) { return c.star != 0 && c.devices > 1; }},
          {"an exchange in several buckets",
           [](const Case& c, const Outcome& o) { return o.buckets > 1 && c.devices > 1; }},
          {"sharded optimizer",
           [](const Case& c, const Outcome&) { return c.shard_optimizer != 0 && c.devices > 1; }},
          {"a sharded optimizer with two states",
           [](const Case& c, const Outcome&) {
             return c.shard_optimizer != 0 && c.devices > 1 &&
                    arithmetic::update_rule(rule_of(c)).states.size() == 2;
           }},
          {"weight decay", [](const Case& c, const Outcome&) { return c.decay != 0; }},
          {"warm-up", [](const Case& c, const Outcome&) { return c.done < c.warmup; }},
          {"steps in the middle of a training", [](const Case& c, const Outcome&) { return c.done != 0; }},
          {"pack order", [](const Case& c, const Outcome&) { return c.layer_order == 0; }},
          {"layer order", [](const Case& c, const Outcome&) { return c.layer_order != 0; }},
          {"not fused", [](const Case& c, const Outcome&) { return c.unfused != 0; }},
          {"padding", [](const Case& c, const Outcome&) { return any_layer<model::Conv2d>(c, pads); }},
          {"stride", [](const Case& c, const Outcome&) { return any_layer<model::Conv2d>(c, strides); }},
          {"a convolution without bias",
           [](const Case& c, const Outcome&) {
             return any_layer<model::Conv2d>(c, unbiased<model::Conv2d>);
           }},
          {"a linear layer without bias",
           [](const Case& c, const Outcome&) {
             return any_layer<model::Linear>(c, unbiased<model::Linear>);
           }},
          {"groups", [](const Case& c, const Outcome&) { return any_layer<model::Conv2d>(c, has_groups); }},
          {"groups of fast convolution",
           [](const Case& c, const Outcome&) {
             return any_algorithm(c, [](const ConvolutionAlgorithms& a, const model::Conv2d& conv) {
               return a.winograd() && has_groups(conv);
             });
           }},
          {"groups of weight gradient B",
           [](const Case& c, const Outcome&) {
             return any_algorithm(c, [](const ConvolutionAlgorithms& a, const model::Conv2d& conv) {
               return a.weight_gradient == WeightGradientAlgorithm::per_row && has_groups(conv);
             });
           }},
          {"a depthwise convolution", [](const Case& c, const Outcome&) { return any_depthwise(c); }},
          {"a value with several readers", [](const Case& c, const Outcome&) { return most_readers(c) > 1; }},
          {"a value with over two readers",
           [](const Case& c, const Outcome&) { return most_readers(c) > 2; }},
          {"weight gradient A",
           [](const Case& c, const Outcome&) {
             return any_algorithm(c, [](const ConvolutionAlgorithms& a, const model::Conv2d&) {
               return a.weight_gradient == WeightGradientAlgorithm::per_lane;
             });
           }},
          {"weight gradient B",
           [](const Case& c, const Outcome&) {
             return any_algorithm(c, [](const ConvolutionAlgorithms& a, const model::Conv2d&) {
               return a.weight_gradient == WeightGradientAlgorithm::per_row;
             });
           }},
          {"fast convolution",
           [](const Case& c, const Outcome&) {
             return any_algorithm(
                 c, [](const ConvolutionAlgorithms& a, const model::Conv2d&) { return a.winograd(); });
           }},
          {"denormal numbers", [](const Case&, const Outcome& o) { return o.denormal; }},
          {"negative zeros", [](const Case&, const Outcome& o) { return o.negative_zero; }},
          {"huge numbers", [](const Case& c, const Outcome&) { return numbers(c) == Numbers::huge; }},
          {"a refused step", [](const Case&, const Outcome& o) { return o.refused; }},
          {"an update that overflows", [](const Case&, const Outcome& o) { return o.overflowed; }},
          {"CPUs alone", [](const Case&, const Outcome& o) { return o.gpu_kind.empty(); }}} {
  add_layer_kinds();
  add_update_rules();
  add_batch_norms(!gpu_kinds.empty());
  add_fused();
  for (const std::string& kind : gpu_kinds) {
    rows_.push_back({kind, any, kind});
    rows_.push_back({kind + " beside CPUs", beside_cpus, kind});
  }
  if (gpu_kinds.empty()) return;
  rows_.push_back({"a GPU with over 64 packs, so in several groups", [](const Case& c, const Outcome& o) {
                     return c.layer_order == 0 && !has_norm(c) &&
                            any_packs(o, [](int packs, bool gpu) { return gpu && packs > 64; });
                   }});
  rows_.push_back({"a GPU that works pack by pack for want of memory", [](const Case& c, const Outcome& o) {
                     return c.layer_order == 0 && c.memory == kOnePackAtOnce && !has_norm(c) &&
                            any_packs(o, [](int packs, bool gpu) { return gpu && packs > 1; });
                   }});
  rows_.push_back({"a GPU with denormal numbers",
                   [](const Case&, const Outcome& o) { return !o.gpu_kind.empty() && o.denormal; }});
  rows_.push_back({"a GPU with negative zeros",
                   [](const Case&, const Outcome& o) { return !o.gpu_kind.empty() && o.negative_zero; }});
  rows_.push_back({"a GPU with a refused step",
                   [](const Case&, const Outcome& o) { return !o.gpu_kind.empty() && o.refused; }});
}

// Every kind of layer must be drawn.
void Census::add_layer_kinds() {
  const auto add = [this]<class... Kinds>(std::variant<Kinds...>*) {
    (rows_.push_back({"a layer of kind " + name_of(Kinds{}),
                      [](const Case& c, const Outcome&) { return any_layer<Kinds>(c, always<Kinds>); }}),
     ...);
  };
  add(static_cast<model::LayerKind*>(nullptr));
}

// Every update rule and every schedule must be drawn.
void Census::add_update_rules() {
  const auto add = [this]<std::size_t... kRules>(std::index_sequence<kRules...>) {
    (rows_.push_back({"optimizer " + std::string(arithmetic::kUpdateRules[kRules].name),
                      [](const Case& c, const Outcome&) { return c.rule == static_cast<int>(kRules); }}),
     ...);
  };
  add(std::make_index_sequence<arithmetic::kUpdateRules.size()>{});
  rows_.push_back({"a step schedule", [](const Case& c, const Outcome&) { return c.schedule == 1; }});
  rows_.push_back({"a cosine schedule", [](const Case& c, const Outcome&) { return c.schedule == 2; }});
}

void Census::count(const Case& c, const Outcome& outcome) {
  ++cases_;
  ++cases_by_layers_[static_cast<int>(model_of(c).layers.size())];
  if (most_readers(c) > 1) ++with_skip_;
  if (has_norm(c)) ++with_norm_;
  for (Row& row : rows_) {
    if ((row.gpu_kind.empty() || row.gpu_kind == outcome.gpu_kind) && row.had(c, outcome)) ++row.cases;
  }
}

std::vector<std::string> Census::too_seldom() const {
  std::vector<std::string> names;
  for (const Row& row : rows_) {
    if (row.cases < row.least) names.push_back(row.name);
  }
  return names;
}

int Census::median_layers() const {
  int seen = 0;
  for (const auto& [layers, cases] : cases_by_layers_) {
    seen += cases;
    if (2 * seen >= cases_) return layers;
  }
  return 0;
}

double Census::part_with_skip() const { return cases_ == 0 ? 0 : static_cast<double>(with_skip_) / cases_; }

double Census::part_with_norm() const { return cases_ == 0 ? 0 : static_cast<double>(with_norm_) / cases_; }

std::ostream& operator<<(std::ostream& out, const Census& census) {
  out << fmt::format("Of {} cases\n", census.cases_);
  for (const Census::Row& row : census.rows_) out << fmt::format("{:7} had {}\n", row.cases, row.name);
  for (const auto& [layers, cases] : census.cases_by_layers_)
    out << fmt::format("{:7} had {:2} layers {}\n", cases, layers,
                       std::string(static_cast<std::size_t>(60.0 * cases / census.cases_), '#'));
  out << fmt::format(
      "The median is {} layers; {:.0f} % have a value with several readers, {:.0f} % a batch norm\n",
      census.median_layers(), 100 * census.part_with_skip(), 100 * census.part_with_norm());
  return out;
}

}  // namespace lockstep::property
