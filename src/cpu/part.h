// Elements divided among threads.
#pragma once
#include <algorithm>
#include <cstddef>

#include "base/divide.h"

namespace lockstep::cpu {

// The elements of one thread, whole cache lines.
struct Part {
  std::size_t first, count;
};

inline Part part_of(std::size_t elements, int thread, int threads) {
  constexpr std::size_t kLine = 16;
  const std::size_t lines = divide_up(elements, kLine);
  const auto bound = [&](int t) {
    return std::min(elements,
                    lines * static_cast<std::size_t>(t) / static_cast<std::size_t>(threads) * kLine);
  };
  return {bound(thread), bound(thread + 1) - bound(thread)};
}

}  // namespace lockstep::cpu
