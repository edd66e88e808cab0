// Plain tensors [example][element] and what kernels read: [pack][element][16 lanes], with zeros for absent
// examples.
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "arithmetic/algorithm.h"
#include "arithmetic/pack.h"
#include "gpu/kernels/kernels_host.h"

namespace lockstep::gpu {

inline std::size_t size(int n) { return static_cast<std::size_t>(n); }

inline int packs_of(int examples) { return (examples + arithmetic::kPack - 1) / arithmetic::kPack; }

inline std::vector<float> packed(std::span<const float> plain, int examples) {
  return to_packs(plain, size(examples));
}

inline std::vector<float> unpacked(std::span<const float> packs, int examples) {
  return from_packs(packs, size(examples));
}

inline std::vector<std::uint32_t> bits_of(std::span<const float> values) {
  std::vector<std::uint32_t> bits;
  bits.reserve(values.size());
  for (const float value : values) bits.push_back(std::bit_cast<std::uint32_t>(value));
  return bits;
}

// Normal numbers, with zeros of both signs and products that underflow among them.
inline std::vector<float> random_floats(std::size_t count, std::mt19937& random) {
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) {
    switch (random() % 32) {
      case 0:
        value = 0.0f;
        break;
      case 1:
        value = -0.0f;
        break;
      case 2:
        value = normal(random) * 0x1p-90f;
        break;
      default:
        value = normal(random);
    }
  }
  return values;
}

inline int draw(std::mt19937& random, int least, int most) {
  return std::uniform_int_distribution<int>(least, most)(random);
}

// Any kernel, stride and padding over a picture of up to `most` rows and columns. Channels are left as they
// are.
inline arithmetic::ConvolutionShape random_windows(std::mt19937& random, int most) {
  arithmetic::ConvolutionShape s;
  s.kernel_height = draw(random, 1, 5);
  s.kernel_width = draw(random, 1, 5);
  s.stride_height = draw(random, 1, 3);
  s.stride_width = draw(random, 1, 3);
  s.padding_height = draw(random, 0, 4);
  s.padding_width = draw(random, 0, 4);
  s.height = draw(random, std::max(1, s.kernel_height - 2 * s.padding_height), most);
  s.width = draw(random, std::max(1, s.kernel_width - 2 * s.padding_width), most);
  return s;
}

}  // namespace lockstep::gpu
