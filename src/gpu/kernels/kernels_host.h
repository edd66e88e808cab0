// The GPU kernels as C++, for tests: pack style, one work-item after the other.
//
//   run_items(items, [&](HostKernels& kernels) { kernels.average_pool(x, y, shape); });
//
// TILE_O and LOCKSTEP_TILE_P may be defined before.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "arithmetic/winograd_constants.h"
#include "base/random.h"

#define LOCKSTEP_PACK_STYLE 1
#define LOCKSTEP_GROUP 1
#ifndef TILE_O
#define TILE_O 6
#endif
#ifndef LOCKSTEP_TILE_P
#define LOCKSTEP_TILE_P 2
#endif

// What kernel_source.cpp prints for the other dialects.
#define PHILOX_ROUNDS philox::kRounds
#define PHILOX_MULTIPLIER_0 philox::kMultiplier0
#define PHILOX_MULTIPLIER_1 philox::kMultiplier1
#define PHILOX_WEYL_0 philox::kWeyl0
#define PHILOX_WEYL_1 philox::kWeyl1

// What winograd_constants_text prints for the other dialects.
#define LOCKSTEP_WINOGRAD_CONSTANTS(N)                                                \
  using Constants##N = arithmetic::WinogradConstants<N>;                              \
  static float winograd_power_##N(int i, int k) { return Constants##N::power[i][k]; } \
  static float winograd_z_##N(int k) { return Constants##N::z[k]; }                   \
  static float winograd_q_##N(int i, int k) { return Constants##N::q[i][k]; }         \
  static float winograd_pq_##N(int i, int k) { return Constants##N::pq[i][k]; }       \
  static float winograd_scale0_##N() { return Constants##N::scale0; }                 \
  static float winograd_scale_##N(int i) { return Constants##N::scale[i]; }           \
  static float winograd_scaled_power_##N(int i, int k) { return Constants##N::scaled_power[i][k]; }

// No vector leaves this file. g++ looks at the end of the including one, so this is not popped.
#pragma GCC diagnostic ignored "-Wpsabi"
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-conversion"  // indices are ints within a pack, as in every dialect

namespace lockstep::gpu {

struct HostKernels {
  using size_t = std::size_t;
  size_t position = 0;  // of the work-item
// The order is that of the assembled source.
// clang-format off
#include "gpu/kernels/prelude.inc"
#include "gpu/kernels/arguments.inc"
#include "arithmetic/elementary_opencl.h"
#include "arithmetic/elementary.inc"
#include "gpu/kernels/items.inc"
#include "gpu/kernels/dropout.inc"
#include "gpu/kernels/elements.inc"
#include "gpu/kernels/gradient.inc"
#include "gpu/kernels/join.inc"
#include "gpu/kernels/loss.inc"
#include "gpu/kernels/norm.inc"
#include "gpu/kernels/pool.inc"
#include "gpu/kernels/probe.inc"
#include "gpu/kernels/update.inc"
#define TILE_P 1
#include "gpu/kernels/tile.inc"
#undef TILE_P
#define TILE_P LOCKSTEP_TILE_P
#include "gpu/kernels/tile.inc"
#undef TILE_P
LOCKSTEP_WINOGRAD_CONSTANTS(4)
#define WINOGRAD_N 4
#include "gpu/kernels/winograd.inc"
#undef WINOGRAD_N
LOCKSTEP_WINOGRAD_CONSTANTS(6)
#define WINOGRAD_N 6
#include "gpu/kernels/winograd.inc"
#undef WINOGRAD_N
LOCKSTEP_WINOGRAD_CONSTANTS(8)
#define WINOGRAD_N 8
#include "gpu/kernels/winograd.inc"
#undef WINOGRAD_N
  // clang-format on
};

// A kernel whose work is counted in ITEMs.
template <class Launch>
void run_items(std::size_t items, Launch launch) {
  HostKernels kernels;
  for (; kernels.position < items; ++kernels.position) launch(kernels);
}

// A kernel whose work is counted in ELEMENTs: in C++ the same.
template <class Launch>
void run_elements(std::size_t elements, Launch launch) {
  run_items(elements, launch);
}

// plain [example][elements of one] -> [pack][elements of one][16]; absent lanes are `absent`.
template <class Number>
std::vector<Number> to_packs(std::span<const Number> plain, std::size_t examples, Number absent = {}) {
  const std::size_t elements = plain.size() / examples, packs = (examples + LANES - 1) / LANES;
  std::vector<Number> packed(packs * elements * LANES, absent);
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const std::size_t example = i / elements;
    packed[((example / LANES) * elements + i % elements) * LANES + example % LANES] = plain[i];
  }
  return packed;
}

// The examples' numbers again, without the absent ones.
template <class Number>
std::vector<Number> from_packs(std::span<const Number> packed, std::size_t examples) {
  const std::size_t packs = (examples + LANES - 1) / LANES, elements = packed.size() / (packs * LANES);
  std::vector<Number> plain(examples * elements);
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const std::size_t example = i / elements;
    plain[i] = packed[((example / LANES) * elements + i % elements) * LANES + example % LANES];
  }
  return plain;
}

}  // namespace lockstep::gpu

#pragma GCC diagnostic pop
