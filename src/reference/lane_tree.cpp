#include "reference/lane_tree.h"

#include <cstddef>

namespace lockstep::reference {
namespace {

// The sum of lanes i, i + step, i + 2 step, ...
float sum(std::span<const float> lanes, std::size_t i, std::size_t step) {
  if (step == lanes.size()) return lanes[i];
  return sum(lanes, i, 2 * step) + sum(lanes, i + step, 2 * step);
}

}  // namespace

float lane_tree(std::span<const float> lanes) { return sum(lanes, 0, 1); }

}  // namespace lockstep::reference
