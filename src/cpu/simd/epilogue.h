// Relu, or relu and pool, of a finished block of a convolution. Per-target header.
#if defined(LOCKSTEP_CPU_SIMD_EPILOGUE_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOCKSTEP_CPU_SIMD_EPILOGUE_H_
#undef LOCKSTEP_CPU_SIMD_EPILOGUE_H_
#else
#define LOCKSTEP_CPU_SIMD_EPILOGUE_H_
#endif
#include "cpu/jobs/block.h"
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

}  // namespace lockstep::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
