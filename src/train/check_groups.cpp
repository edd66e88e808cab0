#include "train/check_groups.h"

#include <algorithm>

#include "base/error.h"
#include "model/example_groups.h"

namespace lockstep::train {

void check_groups(const model::Model& model, int batch, std::size_t examples) {
  const std::size_t most = std::min(static_cast<std::size_t>(batch), examples);
  if (most == 0) return;
  const std::size_t last = examples % most == 0 ? most : examples % most;
  for (const model::ExampleGroups& groups : model::example_groups_of(model)) {
    if (groups.examples > most)
      throw Error(
          Fault::usage,
          "layer {}: ghost {} is larger than a minibatch of {} examples; choose a larger --batch or a "
          "smaller ghost",
          groups.layer, groups.examples, most);
    for (const std::size_t minibatch : {most, last}) {
      const std::size_t last_group = groups.examples == 0 ? minibatch : (minibatch - 1) % groups.examples + 1;
      if (last_group * groups.values > 1) continue;
      throw Error(
          Fault::usage,
          "layer {}: the last group of a minibatch of {} is one example, and one value has no variance; "
          "choose another --batch",
          groups.layer, minibatch);
    }
  }
}

}  // namespace lockstep::train
