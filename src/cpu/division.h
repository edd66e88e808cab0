// How a device's packs of a minibatch are divided among its threads, and how their sums meet. Depends on the
// numbers of packs and threads alone.
#pragma once
#include <utility>
#include <vector>

#include "arithmetic/tree.h"

namespace lockstep::cpu {

// The complete subtree on a level of a thread's stack.
struct StackPlace {
  int thread = 0, level = 0;
};

struct Division {
  int packs = 0;  // of the minibatch
  arithmetic::PackRange share;
  std::vector<arithmetic::PackRange> ranges;                 // by thread
  std::vector<std::vector<arithmetic::JoinStep>> schedules;  // by thread
  std::vector<StackPlace> pieces;           // what the threads hold, in the order of the packs
  std::vector<arithmetic::JoinPair> joins;  // of pieces: makes the device's subtrees of them
  std::vector<StackPlace> subtrees;         // the device's, where the joins leave them
};

Division divide(int packs, arithmetic::PackRange share, int threads);

// The deepest stack of any thread in a division.
int deepest_stack(const Division& division);

}  // namespace lockstep::cpu
