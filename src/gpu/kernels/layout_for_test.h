// Plain tensors [example][element] and what kernels read: [pack][element][16 lanes], with zeros for absent
// examples.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "arithmetic/pack.h"

namespace lockstep::gpu {

inline std::size_t size(int n) { return static_cast<std::size_t>(n); }

inline int packs_of(int examples) { return (examples + arithmetic::kPack - 1) / arithmetic::kPack; }

inline std::vector<float> packed(std::span<const float> plain, int examples) {
  const std::size_t elements = plain.size() / size(examples);
  std::vector<float> packs(size(packs_of(examples) * arithmetic::kPack) * elements);
  for (std::size_t e = 0; e < size(examples); ++e) {
    const std::size_t pack = e / arithmetic::kPack, lane = e % arithmetic::kPack;
    for (std::size_t i = 0; i < elements; ++i) {
      packs[(pack * elements + i) * arithmetic::kPack + lane] = plain[e * elements + i];
    }
  }
  return packs;
}

inline std::vector<float> unpacked(std::span<const float> packs, int examples) {
  const std::size_t elements = packs.size() / size(packs_of(examples) * arithmetic::kPack);
  std::vector<float> plain(elements * size(examples));
  for (std::size_t e = 0; e < size(examples); ++e) {
    const std::size_t pack = e / arithmetic::kPack, lane = e % arithmetic::kPack;
    for (std::size_t i = 0; i < elements; ++i) {
      plain[e * elements + i] = packs[(pack * elements + i) * arithmetic::kPack + lane];
    }
  }
  return plain;
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

}  // namespace lockstep::gpu
