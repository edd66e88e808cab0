#include "train/batch_norm_groups.h"

#include <algorithm>

#include "base/error.h"

namespace lockstep::train {
namespace {

// Examples of the smallest group of a minibatch: the last one.
std::size_t last_group(std::size_t minibatch, std::size_t ghost) {
  return ghost == 0 ? minibatch : (minibatch - 1) % ghost + 1;
}

}  // namespace

void check_groups(const model::Model& model, int batch, std::size_t examples) {
  const std::size_t most = std::min(static_cast<std::size_t>(batch), examples);
  if (most == 0) return;
  const std::size_t last = examples % most == 0 ? most : examples % most;
  const std::vector<model::Shape> shapes = model::infer_shapes(model);
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const auto* const norm = std::get_if<model::BatchNorm>(&model.layers[i].kind);
    if (norm == nullptr) continue;
    const std::string& name = model.layers[i].name;
    const auto ghost = static_cast<std::size_t>(norm->ghost);
    if (ghost > most)
      throw Error(
          Fault::usage,
          "layer {}: ghost {} is larger than a minibatch of {} examples; choose a larger --batch or a "
          "smaller ghost",
          name, ghost, most);
    for (const std::size_t minibatch : {most, last}) {
      if (shapes[i + 1].height * shapes[i + 1].width > 1 || last_group(minibatch, ghost) > 1) continue;
      throw Error(
          Fault::usage,
          "layer {}: the last group of a minibatch of {} examples is one example, and one value has no "
          "variance; choose another --batch",
          name, minibatch);
    }
  }
}

}  // namespace lockstep::train
