// Sums of packs that meet in the pack tree (simd/join.h).
#pragma once
#include <array>
#include <cstddef>

namespace lockstep::cpu {

// Where a finished sum of one pack goes: joined with the sums above it in the pack tree, then stored. Without
// a destination nothing asks for the sum.
struct JoinTarget {
  static constexpr int kMaxJoins = 24;
  int joins = 0;
  std::array<const float*, kMaxJoins> sums{};  // in joining order
  float* destination = nullptr;

  bool wanted() const { return destination != nullptr; }
  // The same from an element on: where the sums of a group of channels go.
  JoinTarget from(std::ptrdiff_t element) const {
    JoinTarget part = *this;
    for (int i = 0; i < joins; ++i) part.sums[static_cast<std::size_t>(i)] += element;
    if (wanted()) part.destination += element;
    return part;
  }
};

// Adds `values` into the tree: target[i] = tree join of values[i], i < count.
using JoinRow = void (*)(const float* values, std::ptrdiff_t offset, std::size_t count, const JoinTarget&);

}  // namespace lockstep::cpu
