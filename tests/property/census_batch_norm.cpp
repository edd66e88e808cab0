// What a run must have tried of batch norm.
#include <algorithm>
#include <numeric>
#include <utility>
#include <variant>

#include "arithmetic/pack.h"
#include "property/census.h"

namespace lockstep::property {
namespace {

using model::Add, model::BatchNorm, model::Conv2d, model::Dropout, model::Linear, model::Relu;

// A batch norm in its place.
struct Norm {
  const BatchNorm& kind;
  const model::Layer* before;                // that it reads; null: the model's input
  std::vector<const model::Layer*> readers;  // of what it gives
  int positions;                             // of a channel
};

template <class Kind>
const Kind* as(const model::Layer* layer) {
  return layer == nullptr ? nullptr : std::get_if<Kind>(&layer->kind);
}

template <class Test>
bool any_norm(const Case& c, Test test) {
  const model::Model model = model_of(c);
  const std::vector<model::Shape> shapes = model::infer_shapes(model);
  const std::vector<std::vector<int>> inputs = model::inputs_of(model);
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const auto* const kind = as<BatchNorm>(&model.layers[i]);
    if (kind == nullptr) continue;
    const auto input = static_cast<std::size_t>(inputs[i].front());
    Norm norm{*kind,
              input == 0 ? nullptr : &model.layers[input - 1],
              {},
              shapes[i + 1].height * shapes[i + 1].width};
    for (std::size_t reader = 0; reader < inputs.size(); ++reader) {
      if (std::ranges::count(inputs[reader], static_cast<int>(i) + 1) > 0)
        norm.readers.push_back(&model.layers[reader]);
    }
    if (test(norm)) return true;
  }
  return false;
}

bool norm_at_all(const Case& c) {
  return any_norm(c, [](const Norm&) { return true; });
}

template <int kGhost>
bool norm_of_ghost(const Case& c, const Outcome&) {
  return any_norm(c, [](const Norm& norm) { return norm.kind.ghost == kGhost; });
}

template <class Kind, bool kBias>
bool norm_behind(const Case& c, const Outcome&) {
  return any_norm(c, [](const Norm& norm) {
    const Kind* const before = as<Kind>(norm.before);
    return before != nullptr && before->bias == kBias;
  });
}

template <class Kind>
bool norm_read_by(const Case& c, const Outcome&) {
  return any_norm(c, [](const Norm& norm) {
    return std::ranges::any_of(norm.readers,
                               [](const model::Layer* reader) { return as<Kind>(reader) != nullptr; });
  });
}

bool norm_of_several_groups(const Case& c, const Outcome&) {
  return any_norm(
      c, [&](const Norm& norm) { return norm.kind.ghost != 0 && most_examples(c) > norm.kind.ghost; });
}

// Do packs of one group lie on several devices? Devices have consecutive packs.
bool group_on_several_devices(const Case& c, const Outcome& outcome, bool ghost) {
  return any_norm(c, [&](const Norm& norm) {
    if ((norm.kind.ghost != 0) != ghost) return false;
    return std::ranges::any_of(outcome.packs, [&](const std::vector<int>& by_device) {
      const int all = std::accumulate(by_device.begin(), by_device.end(), 0);
      const int group = ghost ? norm.kind.ghost / arithmetic::kPack : std::max(all, 1);
      int end = 0;  // of a device's packs
      return std::ranges::any_of(by_device, [&](int packs) {
        end += packs;
        return end > 0 && end < all && end % group != 0;
      });
    });
  });
}

bool device_without_packs(const Outcome& outcome) {
  return std::ranges::any_of(
      outcome.packs, [](const std::vector<int>& by_device) { return std::ranges::count(by_device, 0) > 0; });
}

}  // namespace

void Census::add_batch_norms(bool gpus) {
  constexpr int kLeastOfAForm = 50;
  const auto row = [this](std::string name, bool (*had)(const Case&, const Outcome&), int least = 1) {
    rows_.push_back({.name = std::move(name), .had = had, .least = least});
  };
  row("batch norm over the minibatch", norm_of_ghost<0>, kLeastOfAForm);
  row(
      "batch norm over groups of it",
      [](const Case& c, const Outcome&) {
        return any_norm(c, [](const Norm& norm) { return norm.kind.ghost != 0; });
      },
      kLeastOfAForm);
  row("batch norm over 16 examples", norm_of_ghost<16>);
  row("batch norm over 32 examples", norm_of_ghost<32>);
  row("batch norm over 48 examples", norm_of_ghost<48>);
  row("batch norm over several groups", norm_of_several_groups);
  row("batch norm of a minibatch on several devices",
      [](const Case& c, const Outcome& o) { return group_on_several_devices(c, o, false); });
  row("batch norm of a smaller group on several devices",
      [](const Case& c, const Outcome& o) { return group_on_several_devices(c, o, true); });
  row("batch norm and a device without packs",
      [](const Case& c, const Outcome& o) { return norm_at_all(c) && device_without_packs(o); });
  row("batch norm in a last minibatch of 1",
      [](const Case& c, const Outcome&) { return c.last != 0 && examples(c, 1) == 1 && norm_at_all(c); });
  row("batch norm of the input", [](const Case& c, const Outcome&) {
    return any_norm(c, [](const Norm& norm) { return norm.before == nullptr; });
  });
  row("batch norm behind a convolution with bias", norm_behind<Conv2d, true>);
  row("batch norm behind a convolution without bias", norm_behind<Conv2d, false>);
  row("batch norm behind a linear layer with bias", norm_behind<Linear, true>);
  row("batch norm behind a linear layer without bias", norm_behind<Linear, false>);
  row("batch norm behind a sum", [](const Case& c, const Outcome&) {
    return any_norm(c, [](const Norm& norm) { return as<Add>(norm.before) != nullptr; });
  });
  row("batch norm in front of a relu", norm_read_by<Relu>);
  row("batch norm in front of a sum", norm_read_by<Add>);
  row("batch norm in front of dropout", norm_read_by<Dropout>);
  row("batch norm in front of a convolution", norm_read_by<Conv2d>);
  row("batch norm of one position", [](const Case& c, const Outcome&) {
    return any_norm(c, [](const Norm& norm) { return norm.positions == 1; });
  });
  row("batch norm and a sharded optimizer", [](const Case& c, const Outcome&) {
    return c.shard_optimizer != 0 && c.devices > 1 && norm_at_all(c);
  });
  row("batch norm and a refused step",
      [](const Case& c, const Outcome& o) { return o.refused && norm_at_all(c); });
  if (gpus) {
    row("a GPU with batch norm",
        [](const Case& c, const Outcome& o) { return !o.gpu_kind.empty() && norm_at_all(c); });
  }
}

}  // namespace lockstep::property
