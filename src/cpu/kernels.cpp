// Compiles every kernel once per instruction set and lists the results, best first.
#include "cpu/kernels.h"

// Without a fused multiply-add the bits would differ. The baseline cannot be disabled; its bodies are left
// out below.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#define HWY_TARGET_INCLUDE "cpu/kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#if HWY_NATIVE_FMA && !HWY_HAVE_SCALABLE
#include "cpu/simd/batch_norm.h"
#include "cpu/simd/batch_norm_numbers.h"
#include "cpu/simd/bias_sums.h"
#include "cpu/simd/dropout.h"
#include "cpu/simd/epilogue.h"
#include "cpu/simd/finite.h"
#include "cpu/simd/fma_peak.h"
#include "cpu/simd/join.h"
#include "cpu/simd/lane_chain.h"
#include "cpu/simd/loss.h"
#include "cpu/simd/outer_product.h"
#include "cpu/simd/pixels.h"
#include "cpu/simd/pooling.h"
#include "cpu/simd/relu.h"
#include "cpu/simd/sum.h"
#include "cpu/simd/tap_tile.h"
#include "cpu/simd/transpose.h"
#include "cpu/simd/unpool.h"
#include "cpu/simd/update.h"
#include "cpu/simd/window.h"
#include "cpu/simd/winograd.h"

HWY_BEFORE_NAMESPACE();
namespace lockstep::cpu::HWY_NAMESPACE {

template <int kChannels, int kPositions>
constexpr void fill_tap_tile(Kernels& row) {
  if constexpr (fits_registers(kChannels, kPositions)) {
    row.tap_tile[kChannels][kPositions] = tap_tile<kChannels, kPositions, false>;
    row.tap_tile_finished[kChannels][kPositions] = tap_tile<kChannels, kPositions, true>;
  }
  if constexpr (kPositions > 1) {
    fill_tap_tile<kChannels, kPositions - 1>(row);
  } else if constexpr (kChannels > 1) {
    fill_tap_tile<kChannels - 1, kMaxTilePositions>(row);
  }
}

template <int kChannels>
constexpr void fill_window_row(Kernels& row) {
  if constexpr (window_fits_registers(kChannels)) row.window_row[kChannels] = window_row<kChannels>;
  if constexpr (kChannels > 1) fill_window_row<kChannels - 1>(row);
}

template <int kChannels, int kRun>
constexpr void fill_lane_chain(Kernels& row) {
  constexpr int kSums = kChannels * kRun;
  if constexpr (kSums <= (kRegisters == 16 ? 12 : 25) &&
                kSums + std::min(kChannels, kRun) + 1 <= kRegisters) {
    row.lane_chain[kChannels][kRun] = lane_chain<kChannels, kRun>;
  }
  if constexpr (kRun > 1) {
    fill_lane_chain<kChannels, kRun - 1>(row);
  } else if constexpr (kChannels > 1) {
    fill_lane_chain<kChannels - 1, kMaxRun>(row);
  }
}

constexpr Kernels make_kernels(std::string_view name) {
  Kernels row{};
  row.name = name;
  row.target = HWY_TARGET;
  row.lanes = kLanes;
  row.registers = kRegisters;
  fill_tap_tile<kMaxTileChannels, kMaxTilePositions>(row);
  row.tap_tile_short = tap_tile_short;
  row.relu_block = relu_block;
  row.relu_pool_block = relu_pool_block;
  fill_window_row<kMaxWindowChannels>(row);
  row.winograd = {make_winograd<2, 3>(), make_winograd<4, 3>(), make_winograd<2, 5>(), make_winograd<4, 5>()};
  fill_lane_chain<kMaxChainChannels, kMaxRun>(row);
  row.lane_tree = lane_tree;
  row.join_row = join_row;
  row.outer_product = outer_product;
  row.outer_products = outer_products;
  row.transpose_pack = transpose_pack;
  row.bias_sums = bias_sums;
  row.relu = relu_all;
  row.relu_gradient = relu_gradient;
  row.relu_gradient_of_sum = relu_gradient_of_sum;
  row.sum = sum_all;
  row.sum_relu = sum_relu;
  row.average_pool = average_pool;
  row.average_pool_gradient = average_pool_gradient;
  row.maximum_pool = maximum_pool;
  row.maximum_pool_gradient = maximum_pool_gradient;
  row.unpool = unpool;
  row.norm_statistics = norm_statistics;
  row.norm_forward = norm_forward;
  row.norm_sums = norm_sums;
  row.norm_input_gradient = norm_input_gradient;
  row.norm_coefficients = norm_coefficients;
  row.norm_factors = norm_factors;
  row.norm_running = norm_running;
  row.dropout = dropout;
  row.loss = softmax_cross_entropy;
  row.load_pixels = load_pixels;
  row.divide = divide;
  row.add = add;
  row.all_finite = all_finite;
  row.sgd = sgd;
  row.momentum_sgd = momentum_sgd;
  row.nesterov_sgd = nesterov_sgd;
  row.adam = adam;
  row.adamw = adamw;
  row.fma_peak = fma_peak;
  return row;
}

}  // namespace lockstep::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace lockstep::cpu {
namespace {

constexpr Kernels kTable[] = {
#if HWY_TARGETS & HWY_AVX3
    N_AVX3::make_kernels("avx512"),
#endif
#if HWY_TARGETS & HWY_AVX2
    N_AVX2::make_kernels("avx2"),
#endif
#if HWY_TARGETS & HWY_NEON
    N_NEON::make_kernels("neon"),
#endif
};

}  // namespace

std::span<const Kernels> compiled_kernels() { return kTable; }

}  // namespace lockstep::cpu
#endif
