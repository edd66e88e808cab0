// Numbers for the tests of small kernels, and how their results are compared.
#pragma once
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include "gpu/kernels/kernels_host.h"

namespace lockstep::gpu {

inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kInfinity = std::numeric_limits<float>::infinity();
inline constexpr std::size_t kOverhang = 5;  // work-items that must do nothing

// Items of a kernel that takes 16 floats at a time, and some more.
inline constexpr std::size_t blocks(std::size_t count) { return (count + LANES - 1) / LANES + kOverhang; }

// All NaNs are one: their bits are outside the law.
inline std::vector<std::uint32_t> law_bits(std::span<const float> values) {
  std::vector<std::uint32_t> bits;
  for (const float v : values) bits.push_back(std::isnan(v) ? ~0u : std::bit_cast<std::uint32_t>(v));
  return bits;
}

class Draw {
 public:
  explicit Draw(unsigned seed) : engine_(seed) {}
  int whole(int low, int high) { return std::uniform_int_distribution(low, high)(engine_); }
  std::size_t size(int low, int high) { return static_cast<std::size_t>(whole(low, high)); }
  std::uint32_t word() { return static_cast<std::uint32_t>(engine_()); }
  std::vector<float> normal(std::size_t count) {
    std::vector<float> values(count);
    for (float& v : values) v = std::normal_distribution<float>()(engine_);
    return values;
  }
  // Few different numbers, both zeros and sometimes a NaN.
  std::vector<float> with_ties(std::size_t count) {
    constexpr std::array choices{-1.0f, -0.0f, 0.0f, 0.5f, 0.5f, 2.0f};
    std::vector<float> values(count);
    for (float& v : values) v = whole(0, 99) == 0 ? kNan : choices[size(0, choices.size() - 1)];
    return values;
  }
  std::vector<float> any_bits(std::size_t count) {
    std::vector<float> values(count);
    for (float& v : values) v = std::bit_cast<float>(word());
    return values;
  }

 private:
  std::mt19937 engine_;
};

}  // namespace lockstep::gpu
