// What happens to a finished tile of a convolution, and the way back through it. Per-target header.
#if defined(LOCKSTEP_DEVICE_CPU_SIMD_EPILOGUE_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOCKSTEP_DEVICE_CPU_SIMD_EPILOGUE_H_
#undef LOCKSTEP_DEVICE_CPU_SIMD_EPILOGUE_H_
#else
#define LOCKSTEP_DEVICE_CPU_SIMD_EPILOGUE_H_
#endif
#include "cpu/kernels.h"
#include "cpu/simd/mask.h"
#include "cpu/simd/vector.h"

HWY_BEFORE_NAMESPACE();
namespace lockstep::cpu::HWY_NAMESPACE {

HWY_NOINLINE inline void relu_block(const BlockJob& job) {
  const float* z = job.block;
  for (int c = 0; c < job.channels; ++c) {
    for (int row = 0; row < job.rows; ++row) {
      float* y = job.y + c * job.y_channel + row * job.y_row;
      for (int x = 0; x < job.columns; ++x, z += kPack, y += job.y_column) {
        HWY_UNROLL(4) for (int v = 0; v < kVectors; ++v) store(relu(load(z + v * kLanes)), y + v * kLanes);
      }
    }
  }
}

// Relu, its mask, and the average of 2x2 windows.
HWY_NOINLINE inline void relu_pool_block(const BlockJob& job) {
  const std::ptrdiff_t row_floats = static_cast<std::ptrdiff_t>(job.columns) * kPack, mask_row = job.mask_row;
  for (int c = 0; c < job.channels; ++c) {
    for (int row = 0; row < job.rows; row += 2) {
      const float* z = job.block + (static_cast<std::ptrdiff_t>(c) * job.rows + row) * row_floats;
      float* y = job.y + c * job.y_channel + (row / 2) * job.y_row;
      std::uint8_t* mask = job.mask + c * job.mask_channel + row * mask_row;
      for (int x = 0; x < job.columns; x += 2, z += 2 * kPack, y += kPack, mask += 4) {
        HWY_UNROLL(4) for (int v = 0; v < kVectors; ++v) {
          const float* const top = z + v * kLanes;
          const float* const bottom = top + row_floats;
          const Vec window[] = {load(top), load(top + kPack), load(bottom), load(bottom + kPack)};
          store(relu_average(window, mask, mask_row, v), y + v * kLanes);
        }
      }
    }
  }
}

// Back through the pool and the relu for kChannels channels at a time, so that their bias chains overlap.
template <int kChannels, bool kBias>
HWY_INLINE void unpool_channels(const UnpoolJob& job, int channel) {
  const Vec quarter = hn::Set(kTag, 0.25f);
  const std::ptrdiff_t dy_channel = job.dy_channel, dx_channel = job.dx_channel,
                       mask_channel = job.mask_channel;
  Vec bias[kChannels * kVectors];
  HWY_UNROLL(8) for (int i = 0; kBias && i < kChannels * kVectors; ++i) {
    bias[i] = load(job.bias + channel * kPack + i * kLanes);
  }
  for (int row = 0; row < job.rows; ++row) {
    const float* const dy = job.dy + channel * dy_channel + (row / 2) * job.dy_columns * kPack;
    const std::uint8_t* const mask = job.mask + channel * mask_channel + row * job.mask_columns * 2;
    float* const dx = job.dx + channel * dx_channel + row * job.columns * kPack;
    for (int x = 0; x < job.columns; x += 2) {
      HWY_UNROLL(8) for (int o = 0; o < kChannels; ++o) {
        const MaskPair masks(mask + o * mask_channel + x * 2);
        HWY_UNROLL(4) for (int v = 0; v < kVectors; ++v) {
          // one rounding, and a zero is +0
          const Vec g =
              hn::MulAdd(load(dy + o * dy_channel + (x / 2) * kPack + v * kLanes), quarter, hn::Zero(kTag));
          const Vec left = masks.pass(g, 0, v), right = masks.pass(g, 1, v);
          store(left, dx + o * dx_channel + x * kPack + v * kLanes);
          store(right, dx + o * dx_channel + (x + 1) * kPack + v * kLanes);
          if constexpr (kBias) {
            Vec& sum = bias[o * kVectors + v];
            sum = hn::Add(hn::Add(sum, left), right);
          }
        }
      }
    }
  }
  HWY_UNROLL(8) for (int i = 0; kBias && i < kChannels * kVectors; ++i) {
    store(bias[i], job.bias + channel * kPack + i * kLanes);
  }
}

// All channels from `channel` on, at most kMost at a time.
template <int kMost>
HWY_INLINE void unpool_with_bias(const UnpoolJob& job, int channel) {
  for (; channel + kMost <= job.channels; channel += kMost) unpool_channels<kMost, true>(job, channel);
  if constexpr (kMost > 1) {
    if (channel < job.channels) unpool_with_bias<kMost - 1>(job, channel);
  }
}

HWY_NOINLINE inline void unpool(const UnpoolJob& job) {
  if (job.bias != nullptr) return unpool_with_bias<8 / kVectors>(job, 0);
  for (int channel = 0; channel < job.channels; ++channel) unpool_channels<1, false>(job, channel);
}

}  // namespace lockstep::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
