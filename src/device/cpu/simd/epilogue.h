// What happens to a finished tile of a convolution, and the way back through it. Per-target header.
#if defined(LOCKSTEP_DEVICE_CPU_SIMD_EPILOGUE_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOCKSTEP_DEVICE_CPU_SIMD_EPILOGUE_H_
#undef LOCKSTEP_DEVICE_CPU_SIMD_EPILOGUE_H_
#else
#define LOCKSTEP_DEVICE_CPU_SIMD_EPILOGUE_H_
#endif
#include "device/cpu/kernels.h"
#include "device/cpu/simd/mask.h"
#include "device/cpu/simd/vector.h"

HWY_BEFORE_NAMESPACE();
namespace lockstep::device::cpu::HWY_NAMESPACE {

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

// Relu, its mask, and the average of 2x2 windows: ((a + b) + (c + d)) / 4.
HWY_NOINLINE inline void relu_pool_block(const BlockJob& job) {
  const Vec quarter = hn::Set(kTag, 0.25f), zero = hn::Zero(kTag);
  const std::ptrdiff_t row_floats = static_cast<std::ptrdiff_t>(job.columns) * kPack;
  const auto keep = [&](const float* z, std::uint8_t* mask, int v) HWY_ATTR {
    const Vec x = load(z + v * kLanes);
    const auto blocked = hn::Le(x, zero);
    store_mask(blocked, mask, v);
    return hn::IfThenZeroElse(blocked, x);
  };
  for (int c = 0; c < job.channels; ++c) {
    for (int row = 0; row < job.rows; row += 2) {
      const float* z = job.block + (static_cast<std::ptrdiff_t>(c) * job.rows + row) * row_floats;
      float* y = job.y + c * job.y_channel + (row / 2) * job.y_row;
      std::uint8_t* mask = job.mask + c * job.mask_channel + row * job.mask_row;
      std::uint8_t* const below = mask + job.mask_row;
      for (int x = 0; x < job.columns; x += 2, z += 2 * kPack, y += kPack) {
        HWY_UNROLL(4) for (int v = 0; v < kVectors; ++v) {
          const Vec top = hn::Add(keep(z, mask + 2 * x, v), keep(z + kPack, mask + 2 * x + 2, v));
          const Vec bottom = hn::Add(keep(z + row_floats, below + 2 * x, v),
                                     keep(z + row_floats + kPack, below + 2 * x + 2, v));
          store(hn::Mul(hn::Add(top, bottom), quarter), y + v * kLanes);
        }
      }
    }
  }
}

// Back through the pool and the relu for kChannels channels at a time, so that their bias chains overlap.
template <int kChannels>
HWY_INLINE void unpool_channels(const UnpoolJob& job, int channel) {
  const Vec quarter = hn::Set(kTag, 0.25f);
  HWY_UNROLL(4) for (int v = 0; v < kVectors; ++v) {
    Vec bias[kChannels];
    HWY_UNROLL(8) for (int o = 0; o < kChannels; ++o) {
      bias[o] = job.bias == nullptr ? hn::Zero(kTag) : load(job.bias + (channel + o) * kPack + v * kLanes);
    }
    for (int row = 0; row < job.rows; ++row) {
      const float* const dy =
          job.dy + channel * job.dy_channel + (row / 2) * job.dy_columns * kPack + v * kLanes;
      const std::uint8_t* const mask = job.mask + channel * job.mask_channel + row * job.mask_columns * 2;
      float* const dx = job.dx + channel * job.dx_channel + row * job.columns * kPack + v * kLanes;
      for (int x = 0; x < job.columns; x += 2) {
        HWY_UNROLL(8) for (int o = 0; o < kChannels; ++o) {
          const Vec g = finished(hn::Mul(load(dy + o * job.dy_channel + (x / 2) * kPack), quarter));
          const std::uint8_t* const m = mask + o * job.mask_channel + x * 2;
          const Vec left = hn::IfThenZeroElse(load_mask(m, v), g);
          const Vec right = hn::IfThenZeroElse(load_mask(m + 2, v), g);
          store(left, dx + o * job.dx_channel + x * kPack);
          store(right, dx + o * job.dx_channel + (x + 1) * kPack);
          bias[o] = hn::Add(hn::Add(bias[o], left), right);
        }
      }
    }
    if (job.bias != nullptr) {
      HWY_UNROLL(8)
      for (int o = 0; o < kChannels; ++o) store(bias[o], job.bias + (channel + o) * kPack + v * kLanes);
    }
  }
}

HWY_NOINLINE inline void unpool(const UnpoolJob& job) {
  int c = 0;
  for (; c + 4 <= job.channels; c += 4) unpool_channels<4>(job, c);
  for (; c < job.channels; ++c) unpool_channels<1>(job, c);
}

}  // namespace lockstep::device::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
