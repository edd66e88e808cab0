// Naive twin of the loss: softmax cross entropy of each example. z and dz [example][class].
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace lockstep::reference {

struct Loss {
  std::vector<float> loss;  // [example], not divided
  std::vector<float> dz;
  int correct = 0;  // examples whose first maximum is their label
};

Loss softmax_cross_entropy(int classes, std::span<const float> z, std::span<const std::uint8_t> labels);

// The minibatch's loss, not divided: lanes by the lane tree, packs by the pack tree.
float loss_sum(std::span<const float> loss);

}  // namespace lockstep::reference
