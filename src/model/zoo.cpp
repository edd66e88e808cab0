#include "model/zoo.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/error.h"
#include "base/nearest.h"

namespace lockstep::model {
namespace {

struct Entry {
  std::string_view name;
  Model (*build)(const Pictures&);
  Pictures usual;
};
constexpr std::array kZoo{Entry{"lenet", lenet, {}},
                          Entry{"mlp", mlp, {}},
                          Entry{"resnet8", resnet8, {}},
                          Entry{"resnet18", resnet18, {}},
                          Entry{"alexnet", alexnet, {{3, 64, 64}}},
                          Entry{"vgg11", vgg11, {{3, 32, 32}}}};

const Entry& entry_of(std::string_view name) {
  const auto* const found = std::ranges::find(kZoo, name, &Entry::name);
  if (found == kZoo.end())
    throw Error(Fault::usage, "there is no model named '{}'{}", name, suggestion(name, zoo_names()));
  return *found;
}

// Every layer's window becomes smaller with the picture, so what fits one size fits all larger ones.
int least_side_of(const Entry& entry) {
  for (int side = 1;; ++side) {
    try {
      infer_shapes(entry.build({{1, side, side}}));
      return side;
    } catch (const Error&) {
      if (side == entry.usual.shape.height) throw;  // a defect: the usual pictures fit
    }
  }
}

}  // namespace

std::vector<std::string> zoo_names() {
  std::vector<std::string> names;
  names.reserve(kZoo.size());
  for (const Entry& entry : kZoo) names.emplace_back(entry.name);
  return names;
}

std::string zoo_text() {
  std::string text = fmt::format("{} (default)", kZoo.front().name);
  for (std::size_t i = 1; i < kZoo.size(); ++i)
    text += fmt::format("{}{}", i + 1 < kZoo.size() ? ", " : " or ", kZoo[i].name);
  return text;
}

Model zoo_model(std::string_view name) {
  const Entry& entry = entry_of(name);
  return entry.build(entry.usual);
}

Model zoo_model(std::string_view name, const Pictures& pictures) {
  const Entry& entry = entry_of(name);
  Model model = entry.build(pictures);
  try {
    infer_shapes(model);
  } catch (const Error& error) {
    const std::string fault = error.what();
    throw Error(Fault::usage, "model {} takes pictures of {}x{} or more, found {}: {}", name,
                least_side_of(entry), least_side_of(entry), to_string(pictures.shape),
                fault.substr(0, fault.find(';')));  // the advice behind it is for users who write layers
  }
  return model;
}

int least_side(std::string_view name) { return least_side_of(entry_of(name)); }

}  // namespace lockstep::model
