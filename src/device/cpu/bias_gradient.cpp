#include "device/cpu/bias_gradient.h"

#include <algorithm>

#include "arithmetic/tree.h"

namespace lockstep::device::cpu {

void join_bias(const Kernels& kernels, const float* lane_sums, int channels, const JoinTarget& target) {
  for (int o = 0; o < channels; ++o) {
    std::array<float, kPack> lanes{};
    std::copy_n(lane_sums + static_cast<std::ptrdiff_t>(o) * kPack, kPack, lanes.begin());
    const float sum = arithmetic::lane_tree(lanes) + 0.0f;
    kernels.join_row(&sum, o, 1, target);
  }
}

}  // namespace lockstep::device::cpu
