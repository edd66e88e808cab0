// The table of the vector code: one row of function pointers per instruction set. What a kernel is given is a
// plain struct in jobs/, so plans are plain C++ without SIMD types. Activations are [channel][y][x][lane],
// 64-byte aligned. Steps and strides are in floats unless said otherwise.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "cpu/jobs/batch_norm.h"
#include "cpu/jobs/block.h"
#include "cpu/jobs/dropout.h"
#include "cpu/jobs/join.h"
#include "cpu/jobs/lane_chain.h"
#include "cpu/jobs/loss.h"
#include "cpu/jobs/outer_product.h"
#include "cpu/jobs/pool.h"
#include "cpu/jobs/tap_tile.h"
#include "cpu/jobs/unpool.h"
#include "cpu/jobs/update.h"
#include "cpu/jobs/window.h"
#include "cpu/jobs/winograd.h"

namespace lockstep::cpu {

struct Kernels {
  std::string_view name;  // avx512, avx2, neon
  std::int64_t target;    // Highway's bit, asked of the processor at run time
  int lanes, registers;

  std::array<std::array<TapTile, kMaxTilePositions + 1>, kMaxTileChannels + 1> tap_tile,
      tap_tile_finished;  // null: no room
  ShortTapTile tap_tile_short;
  FinishBlock relu_block, relu_pool_block;
  std::array<WindowRow, kMaxWindowChannels + 1> window_row;  // null: no room
  std::array<Winograd, kWinogradKinds> winograd;
  std::array<std::array<LaneChain, kMaxRun + 1>, kMaxChainChannels + 1> lane_chain;  // null: no room
  LaneTree lane_tree;
  JoinRow join_row;
  OuterProduct outer_product;
  OuterProducts outer_products;
  TransposePack transpose_pack;
  void (*bias_sums)(const float* dy, int channels, int positions, float* sums);  // per lane, adds from +0
  void (*relu)(const float* x, float* y, std::size_t floats);
  void (*relu_gradient)(const float* dy, const float* y, float* dx, std::size_t floats);
  void (*relu_gradient_of_sum)(const float* a, const float* b, const float* y, float* dx,
                               std::size_t floats);                                 // dx may be a or b
  void (*sum)(const float* a, const float* b, float* to, std::size_t floats);       // to may be a or b
  void (*sum_relu)(const float* a, const float* b, float* to, std::size_t floats);  // likewise
  PoolFunction average_pool, average_pool_gradient, maximum_pool, maximum_pool_gradient;
  Unpool unpool;
  NormStatisticsFunction norm_statistics;
  NormForwardFunction norm_forward;
  NormSumsFunction norm_sums;
  NormInputGradientFunction norm_input_gradient;
  NormCoefficientsFunction norm_coefficients;
  NormFactorsFunction norm_factors;
  NormRunningFunction norm_running;
  DropoutFunction dropout;
  LossFunction loss;
  // Pixels of 16 examples, `pixels` each, to [pixel][lane] / 255.
  void (*load_pixels)(const std::uint8_t* const* examples, int pixels, float* to);
  void (*divide)(const float* from, float* to, std::size_t count, float divisor);
  void (*add)(float* into, const float* from, std::size_t count);  // into = into + from
  bool (*all_finite)(const float* values, std::size_t count);
  UpdateFunction sgd, momentum_sgd, nesterov_sgd, adam, adamw;
  double (*fma_peak)(std::int64_t rounds);  // runs a register-only loop, returns the multiply-adds done
};

// Every row that was compiled, best first.
std::span<const Kernels> compiled_kernels();

// What this processor can run, best first. Empty if it has no fused multiply-add.
std::vector<const Kernels*> usable_kernels();

// The best row, or the one called `name` if it is not empty. Throws Error(device) if there is none,
// Error(usage) if the name is unknown or this processor cannot run it.
const Kernels& choose_kernels(std::string_view name);

}  // namespace lockstep::cpu
