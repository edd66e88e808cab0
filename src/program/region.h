// Numbers that travel between ranks or meet in a join, named by their buffer.
#pragma once
#include <cstddef>

namespace lockstep::program {

using BufferId = int;

// Elements [first, first + count) of a buffer. A partial sum has rows: row i is the i-th complete subtree of
// the pack tree that the rank holds. The rows of an activation are packs, numbered in the minibatch.
struct Region {
  BufferId buffer = -1;
  std::size_t first = 0, count = 0;
  int row = 0;
  int rows = 1;  // more than one only where each row is whole

  bool operator==(const Region&) const = default;

  bool overlaps(const Region& other) const {
    return buffer == other.buffer && row < other.row + other.rows && other.row < row + rows &&
           first < other.first + other.count && other.first < first + count;
  }
};

}  // namespace lockstep::program
