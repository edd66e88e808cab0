// The constants of fast convolution as kernel source, printed from arithmetic/winograd_constants.h.
#pragma once
#include <string>

namespace lockstep::gpu {

// For N = 4, 6 and 8 functions named after the tables, which take the tables' indices: winograd_power_N(i,
// k), winograd_z_N(k), winograd_q_N(i, k), winograd_pq_N(i, k), winograd_scale0_N(), winograd_scale_N(i) and
// winograd_scaled_power_N(i, k). With indices that are constant after unrolling they are literals.
std::string winograd_constants_text();

}  // namespace lockstep::gpu
