// Naive twin of the pack tree.
#pragma once
#include <span>

namespace lockstep::reference {

// sums [packs], in pack order -> the sum over the minibatch. Requires at least one.
float pack_tree(std::span<const float> sums);

}  // namespace lockstep::reference
