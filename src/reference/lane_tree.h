// Naive twin of the lane tree.
#pragma once
#include <span>

namespace lockstep::reference {

// lanes [16] -> their sum; an absent lane is +0.
float lane_tree(std::span<const float> lanes);

}  // namespace lockstep::reference
