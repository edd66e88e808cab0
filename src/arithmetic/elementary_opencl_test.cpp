// The OpenCL words, read as C++ with OpenCL's builtins, give the scalar bits.
// Their syntax is held against an OpenCL compiler by elementary_test.cl.
#include <bit>
#include <cmath>
#include <cstdint>

#include <gtest/gtest.h>

#include "arithmetic/scalar.h"

namespace lockstep::arithmetic {
namespace opencl {

using uint = std::uint32_t;
inline uint as_uint(float value) { return std::bit_cast<uint>(value); }
inline uint as_uint(int value) { return std::bit_cast<uint>(value); }
inline int as_int(uint value) { return std::bit_cast<int>(value); }
inline float as_float(uint value) { return std::bit_cast<float>(value); }
inline float convert_float(int value) { return static_cast<float>(value); }
inline float fma(float a, float b, float c) { return std::fma(a, b, c); }

#include "arithmetic/elementary_opencl.h"
static_assert(sizeof(Real) == sizeof(Whole));
#include "arithmetic/elementary.inc"

}  // namespace opencl

namespace {

TEST(ElementaryOpencl, GivesTheScalarBits) {
  constexpr std::uint64_t stride = 1009;
  for (std::uint64_t i = 0; i < (std::uint64_t{1} << 32); i += stride) {
    const float x = std::bit_cast<float>(static_cast<std::uint32_t>(i));
    ASSERT_EQ(opencl::as_uint(opencl::ls_exp(x)), opencl::as_uint(exp_law(x))) << x;
    ASSERT_EQ(opencl::as_uint(opencl::ls_log(x)), opencl::as_uint(log_law(x))) << x;
  }
}

}  // namespace
}  // namespace lockstep::arithmetic
