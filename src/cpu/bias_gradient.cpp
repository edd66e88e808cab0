#include "cpu/bias_gradient.h"

#include <algorithm>

namespace lockstep::cpu {

void join_bias(const Kernels& kernels, const float* lane_sums, int channels, const JoinTarget& target) {
  alignas(64) std::array<float, kPack * kPack> last{};  // the lane tree reads whole vectors of channels
  alignas(64) std::array<float, kPack> values{}, sums{};
  for (int first = 0; first < channels; first += kPack) {
    const int count = std::min(kPack, channels - first);
    const float* stage = lane_sums + static_cast<std::ptrdiff_t>(first) * kPack;
    if (count < kPack) {
      std::copy_n(stage, count * kPack, last.begin());
      stage = last.data();
    }
    kernels.lane_tree({stage, 1, count, values.data(), sums.data(), kPack});
    kernels.join_row(sums.data(), first, static_cast<std::size_t>(count), target);
  }
}

}  // namespace lockstep::cpu
