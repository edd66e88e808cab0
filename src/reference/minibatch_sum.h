// How per-example or per-pack values of the minibatch become one sum: the shape every parameter gradient has.
#pragma once
#include <array>
#include <vector>

#include "arithmetic/pack.h"
#include "reference/lane_tree.h"
#include "reference/pack_tree.h"

namespace lockstep::reference {

// The tree over sum_of_pack(first example, end example) of every pack.
template <class SumOfPack>
float sum_over_packs(int examples, SumOfPack sum_of_pack) {
  std::vector<float> sums;
  for (int first = 0; first < examples; first += arithmetic::kPack) {
    const int end = first + arithmetic::kPack < examples ? first + arithmetic::kPack : examples;
    sums.push_back(sum_of_pack(first, end));
  }
  return pack_tree(sums) + 0.0f;
}

// The same where each example gives a value and lanes meet in the lane tree.
template <class ValueOfExample>
float sum_over_lanes(int examples, ValueOfExample value_of_example) {
  return sum_over_packs(examples, [&](int first, int end) {
    std::array<float, arithmetic::kPack> lanes{};  // absent ones stay +0
    for (int e = first; e < end; ++e) lanes[static_cast<std::size_t>(e - first)] = value_of_example(e);
    return lane_tree(lanes);
  });
}

}  // namespace lockstep::reference
