// Every target this machine runs gives the bits of the scalar build.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/elementary_highway_test.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h stands first

#include "cpu/elementary_highway.h"

HWY_BEFORE_NAMESPACE();
#if HWY_NATIVE_FMA
namespace lockstep::cpu::HWY_NAMESPACE {

// x, exp_of and log_of hold one pack.
inline void exp_and_log(const float* x, float* exp_of, float* log_of) {
  namespace hn = hwy::HWY_NAMESPACE;
  constexpr elementary::RealTag tag;
  for (std::size_t i = 0; i < arithmetic::kPack; i += hn::Lanes(tag)) {
    const elementary::Real value = hn::LoadU(tag, x + i);
    hn::StoreU(elementary::ls_exp(value), tag, exp_of + i);
    hn::StoreU(elementary::ls_log(value), tag, log_of + i);
  }
}

}  // namespace lockstep::cpu::HWY_NAMESPACE
#endif
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "arithmetic/scalar.h"

namespace lockstep::cpu {
namespace {

struct Row {
  std::int64_t target;
  const char* name;
  void (*exp_and_log)(const float*, float*, float*);
};

std::vector<Row> targets_here() {
  const std::vector<Row> built {
#if HWY_TARGETS & HWY_AVX2
    {HWY_AVX2, "AVX2", N_AVX2::exp_and_log},
#endif
#if HWY_TARGETS & HWY_AVX3
        {HWY_AVX3, "AVX-512", N_AVX3::exp_and_log},
#endif
#if HWY_TARGETS & HWY_NEON
        {HWY_NEON, "NEON", N_NEON::exp_and_log},
#endif
  };
  std::vector<Row> here;
  for (const Row& row : built) {
    if ((hwy::SupportedTargets() & row.target) != 0) here.push_back(row);
  }
  return here;
}

constexpr std::uint32_t kStride = 1009;  // floats between tested ones: 4.2 million of all

TEST(ElementaryHighway, GivesTheScalarBits) {
  const std::vector<Row> targets = targets_here();
  ASSERT_FALSE(targets.empty()) << "this machine has no vectors that fuse multiply-add";
  constexpr std::size_t lanes = arithmetic::kPack;
  for (std::uint64_t start = 0; start < (std::uint64_t{1} << 32); start += lanes * kStride) {
    std::array<float, lanes> x{}, exp_of{}, log_of{};
    for (std::size_t i = 0; i < lanes; ++i) {
      x[i] = std::bit_cast<float>(static_cast<std::uint32_t>(start + i * kStride));
    }
    for (const Row& row : targets) {
      row.exp_and_log(x.data(), exp_of.data(), log_of.data());
      for (std::size_t i = 0; i < lanes; ++i) {
        const auto bits = [](float value) { return std::bit_cast<std::uint32_t>(value); };
        ASSERT_EQ(bits(exp_of[i]), bits(arithmetic::exp_law(x[i]))) << row.name << " exp(" << x[i] << ")";
        ASSERT_EQ(bits(log_of[i]), bits(arithmetic::log_law(x[i]))) << row.name << " log(" << x[i] << ")";
      }
    }
  }
}

}  // namespace
}  // namespace lockstep::cpu
#endif
