#include "arithmetic/tree.h"

#include <bit>
#include <cstddef>
#include <utility>

#include "base/error.h"

namespace lockstep::arithmetic {
namespace {

int middle(PackRange node) { return node.first + left_size(node.size()); }

void collect(PackRange node, PackRange held, std::vector<PackRange>& subtrees) {
  if (node.last <= held.first || held.last <= node.first) return;
  if (held.first <= node.first && node.last <= held.last) {
    subtrees.push_back(node);
    return;
  }
  collect({node.first, middle(node)}, held, subtrees);
  collect({middle(node), node.last}, held, subtrees);
}

// Takes the subtrees of `node` from the front of what is left of `subtrees`.
class PairWriter {
 public:
  explicit PairWriter(std::span<const PackRange> subtrees) : subtrees_(subtrees) {}

  // Returns the index where the node's sum will be.
  int write(PackRange node) {
    check(next_ < subtrees_.size(), "no subtree for packs [{}, {})", node.first, node.last);
    const PackRange subtree = subtrees_[next_];
    if (subtree == node) return static_cast<int>(next_++);
    check(subtree.first == node.first && subtree.last < node.last,
          "packs [{}, {}) are no subtree of [{}, {})", subtree.first, subtree.last, node.first, node.last);
    const int left = write({node.first, middle(node)});
    const int right = write({middle(node), node.last});
    pairs_.push_back({left, right});
    return left;
  }

  std::vector<JoinPair> finish() {
    check(next_ == subtrees_.size(), "{} subtrees beyond the last pack", subtrees_.size() - next_);
    return std::move(pairs_);
  }

 private:
  std::span<const PackRange> subtrees_;
  std::size_t next_ = 0;
  std::vector<JoinPair> pairs_;
};

}  // namespace

float lane_tree(const std::array<float, kPack>& lanes) {
  std::array<float, kPack> sums = lanes;
  for (std::size_t half = kPack / 2; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) sums[i] = sums[i] + sums[i + half];
  }
  return sums[0];
}

int left_size(int q) {
  check(q > 1, "a range of {} packs has no left part", q);
  return static_cast<int>(std::bit_floor(static_cast<unsigned>(q - 1)));
}

std::vector<PackRange> cover(int packs, PackRange held) {
  check(0 <= held.first && held.first <= held.last && held.last <= packs, "packs [{}, {}) of {}", held.first,
        held.last, packs);
  std::vector<PackRange> subtrees;
  if (held.size() > 0) collect({0, packs}, held, subtrees);
  return subtrees;
}

// The stack after each pack is the cover of what was added: a subtree that becomes complete has its left part
// on the stack already, and its right part ends with the new pack.
std::vector<JoinStep> join_schedule(int packs, PackRange held) {
  std::vector<JoinStep> steps;
  int depth = 0;
  for (int pack = held.first; pack < held.last; ++pack) {
    const int next_depth = static_cast<int>(cover(packs, {held.first, pack + 1}).size());
    steps.push_back({depth, depth + 1 - next_depth});
    depth = next_depth;
  }
  return steps;
}

std::vector<JoinPair> join_pairs(int packs, PackRange held, std::span<const PackRange> subtrees) {
  PairWriter writer(subtrees);
  for (const PackRange node : cover(packs, held)) writer.write(node);
  return writer.finish();
}

}  // namespace lockstep::arithmetic
