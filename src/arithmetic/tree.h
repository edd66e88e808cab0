// The trees in which partial sums meet: lanes inside a pack, packs across devices.
//
// The pack tree is a function of the number of packs alone: a range of q > 1 packs is tree(left) +
// tree(right), left the largest power of two strictly below q. A device that holds packs [a, b) holds a few
// complete subtrees (cover) and gets their sums by adding pack after pack on a small stack (join_schedule).
// The device that receives the subtrees of all others adds the rest of the same tree (join_pairs). Checked
// against plain recursion in tree_test.cpp.
#pragma once
#include <array>
#include <span>
#include <vector>

#include "arithmetic/pack.h"

namespace lockstep::arithmetic {

// Lane i + lane i + 8, then + 4, + 2, + 1.
float lane_tree(const std::array<float, kPack>& lanes);

// Packs first .. last - 1.
struct PackRange {
  int first = 0, last = 0;
  int size() const { return last - first; }
  bool operator==(const PackRange&) const = default;
};

// The size of the left part of a range of q packs. Requires q > 1.
int left_size(int q);

// The maximal complete subtrees of the tree over [0, packs) that make up `held`, in order.
std::vector<PackRange> cover(int packs, PackRange held);

// Adding one more pack: the stack holds `depth` sums; the pack's sum is joined with the top `joins` of them,
// top first (value = stack[top] + value, ...), and put at index depth - joins.
struct JoinStep {
  int depth = 0, joins = 0;
  bool operator==(const JoinStep&) const = default;
};

// One step per pack of `held`; afterwards the stack holds the sums of cover(packs, held), in order.
std::vector<JoinStep> join_schedule(int packs, PackRange held);

// value[into] = value[into] + value[from]
struct JoinPair {
  int into = 0, from = 0;
  bool operator==(const JoinPair&) const = default;
};

// The additions that make the sums of cover(packs, held) out of those of `subtrees`: each ends up at the
// index of its first subtree; with all packs held, the sum over the minibatch at index 0.
// Requires: complete subtrees that cover `held` in order.
std::vector<JoinPair> join_pairs(int packs, PackRange held, std::span<const PackRange> subtrees);

}  // namespace lockstep::arithmetic
