// How a device goes through a program: the facts that its memory depends on and that only the device knows.
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

namespace lockstep::program {

// Instructions [first, last) of a segment.
struct InstructionRange {
  std::size_t first = 0, last = 0;
};

struct Nest {
  int most_packs = 1;  // of the device's share
  int threads = 1;     // each works on packs of its own, in a workspace of its own
  // That are allocated for the device. None: one a thread. Devices that take turns in workspaces count each
  // of them once.
  std::optional<int> workspaces = {};
  // A thread takes `group` packs together through the grouped instructions of a segment: each of these runs
  // for all packs of the group before the next one does. Before and after them it takes one pack at a time
  // through all instructions.
  int group = 1;
  std::vector<InstructionRange> grouped = {};  // by segment
  // Nothing shares a place: the activations of a step stay where they are until the next step.
  bool keeps_activations = false;

  int stack = 1;           // partial sums that each thread keeps of a buffer at once
  bool pack_sums = false;  // each pack of a group first writes its sum to a place of its own
  int counts_copies = 1;   // of a buffer of counts
  int mask_bits = 1;       // that a mask has for each float of a pack
  std::size_t line = 1;    // bytes: copies and places start at multiples of it

  std::vector<std::size_t> prepared = {};  // by buffer: bytes of a prepared parameter; 0: it is the parameter
  bool prepares_in_workspace = false;      // every thread prepares parameters for itself
  std::vector<bool> borrowed = {};         // by buffer: it lies in another program's memory; empty: none does
  std::size_t scratch = 0;                 // bytes, of each thread
};

}  // namespace lockstep::program
