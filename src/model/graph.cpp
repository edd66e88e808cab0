// Turns the names of layers' inputs into numbers of values.
#include <map>
#include <string_view>

#include "base/error.h"
#include "base/nearest.h"
#include "model/model.h"

namespace lockstep::model {
namespace {

class Names {
 public:
  explicit Names(const Model& model) : model_(model) {
    for (std::size_t i = 0; i < model.layers.size(); ++i) add(model.layers[i].name, i);
  }

  std::vector<int> inputs(std::size_t layer) const {
    const std::vector<std::string>& names = model_.layers[layer].inputs;
    if (names.empty()) return {static_cast<int>(layer)};
    std::vector<int> values;
    values.reserve(names.size());
    for (const std::string& name : names) values.push_back(value(layer, name));
    return values;
  }

 private:
  void add(const std::string& name, std::size_t layer) {
    if (name.empty()) {
      throw Error(Fault::usage, "model {}: layer number {} has no name; give it one", model_.name, layer + 1);
    }
    if (name == kInputName) {
      throw Error(
          Fault::usage,
          "model {}: layer number {} is named {}, which names the model's input; give it another name",
          model_.name, layer + 1, name);
    }
    if (!layers_.emplace(name, layer).second) {
      throw Error(Fault::usage, "model {}: two layers are named {}; layer names must differ", model_.name,
                  name);
    }
  }

  int value(std::size_t layer, const std::string& name) const {
    if (name == kInputName) return 0;
    const std::string& own = model_.layers[layer].name;
    const auto found = layers_.find(name);
    if (found == layers_.end()) {
      std::vector<std::string> before{std::string(kInputName)};
      before.reserve(layer + 1);
      for (std::size_t i = 0; i < layer; ++i) before.push_back(model_.layers[i].name);
      throw Error(Fault::usage, "layer {} takes its input from '{}', which names no layer{}", own, name,
                  suggestion(name, before));
    }
    if (found->second >= layer) {
      if (!reaches(layer, found->second))
        throw Error(Fault::usage, "layer {} takes its input from {}, which stands behind it; move it before",
                    own, name);
      throw Error(Fault::usage,
                  "layer {} takes its input from {}, which takes its own input from {}: the layers form a "
                  "cycle; take one of these inputs away",
                  own, name, own);
    }
    return static_cast<int>(found->second) + 1;
  }

  // Does the value of layer `from` go into layer `to`, directly or through others?
  bool reaches(std::size_t from, std::size_t to) const {
    std::vector<bool> seen(model_.layers.size(), false);
    std::vector<std::size_t> left{to};
    while (!left.empty()) {
      const std::size_t layer = left.back();
      left.pop_back();
      if (layer == from) return true;
      if (seen[layer]) continue;
      seen[layer] = true;
      const std::vector<std::string>& names = model_.layers[layer].inputs;
      if (names.empty() && layer > 0) left.push_back(layer - 1);
      for (const std::string& name : names) {
        if (const auto found = layers_.find(name); found != layers_.end()) left.push_back(found->second);
      }
    }
    return false;
  }

  const Model& model_;
  std::map<std::string_view, std::size_t> layers_;
};

}  // namespace

std::vector<std::vector<int>> inputs_of(const Model& model) {
  const Names names(model);
  std::vector<std::vector<int>> inputs;
  inputs.reserve(model.layers.size());
  for (std::size_t i = 0; i < model.layers.size(); ++i) inputs.push_back(names.inputs(i));
  return inputs;
}

}  // namespace lockstep::model
