// What tests of a layer's plans have in common: numbers, packs of them, and sizes of caches.
#pragma once
#include <bit>
#include <cstdint>
#include <random>
#include <vector>

#include "base/aligned_buffer.h"
#include "cpu/tiling.h"

namespace lockstep::cpu {

using Tensor = std::vector<float>;

inline Tensor random_numbers(std::size_t count, std::mt19937& random) {
  std::normal_distribution<float> normal;
  Tensor numbers(count);
  for (float& n : numbers) n = normal(random);
  return numbers;
}

// [example][element] to packs of [element][lane]; absent examples are zero.
inline AlignedBuffer<float> to_packs(const Tensor& plain, std::size_t elements, int packs) {
  AlignedBuffer<float> lanes(elements * static_cast<std::size_t>(packs) * kPack);
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const std::size_t example = i / elements, element = i % elements;
    lanes[(example / kPack * elements + element) * kPack + example % kPack] = plain[i];
  }
  return lanes;
}

inline Tensor from_packs(const AlignedBuffer<float>& lanes, std::size_t elements, int examples) {
  Tensor plain(elements * static_cast<std::size_t>(examples));
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const std::size_t example = i / elements, element = i % elements;
    plain[i] = lanes[(example / kPack * elements + element) * kPack + example % kPack];
  }
  return plain;
}

inline std::vector<std::uint32_t> bits_of(const Tensor& values) {
  std::vector<std::uint32_t> bits;
  bits.reserve(values.size());
  for (const float v : values) bits.push_back(std::bit_cast<std::uint32_t>(v));
  return bits;
}

// Caches from absurdly small to larger than everything: all sizes of rounds and blocks.
inline constexpr CacheSizes kCaches[] = {{1 << 10, 1 << 10},
                                         {4 << 10, 100 << 10},
                                         {32 << 10, 512 << 10},
                                         {48 << 10, 2 << 20},
                                         {1 << 20, 64 << 20}};

}  // namespace lockstep::cpu
