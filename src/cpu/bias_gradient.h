// Bias gradient: per-lane sums over positions, then the lane tree, then the pack tree.
#pragma once
#include "cpu/kernels.h"

namespace lockstep::cpu {

// lane_sums [channel][lane]
void join_bias(const Kernels& kernels, const float* lane_sums, int channels, const JoinTarget& target);

}  // namespace lockstep::cpu
