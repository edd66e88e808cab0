// Where the numbers of a program lie, as a pure function of the program and of the way in which a device goes
// through it. Devices allocate what the plan says; they only add alignment.
//
// Numbers of a pack lie in a workspace, which each thread of a device has while it works. A workspace is
// divided into places. Buffers share a place if no two of them are needed at the same time, or if an
// instruction writes one of them over the other, which it reads for the last time. The largest buffers are
// placed first, each in the smallest place that is free for as long as it is needed, else in a new place:
// "greedy by size" of Pisarchyk and Lee, 2020. memory_plan_test.cpp follows every byte of a step through the
// places.
#pragma once
#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "program/nest.h"
#include "program/program.h"

namespace lockstep::program {

// What memory is for.
enum class MemoryClass {
  parameters,
  gradients,
  states,
  prepared,
  partial_sums,
  activations,  // and masks and labels that share a place with one
  masks,
  labels,
  inbox,
  statistics,  // of batch norms
  counts,
  scratch,
};
inline constexpr std::size_t kMemoryClasses = 12;
std::string_view name_of(MemoryClass of);

// How long numbers are needed.
enum class Lifetime {
  pack,  // while a group of packs is worked on
  step,  // until the end of the step
  run,   // from step to step
};
std::string_view name_of(Lifetime life);

struct MemoryPlan {
  // What a buffer takes: `copies` one after the other.
  struct Numbers {
    MemoryClass of = MemoryClass::activations;
    Lifetime life = Lifetime::run;
    std::size_t bytes = 0;  // of a copy, a multiple of the nest's line
    int copies = 1;
    int place = -1;  // in every workspace; -1: memory that belongs to the buffer alone
    std::size_t all_bytes() const { return bytes * static_cast<std::size_t>(copies); }
  };
  // Part of a workspace: as large as the first of its buffers.
  struct Place {
    std::size_t first = 0, bytes = 0;
    std::vector<BufferId> buffers = {};  // the largest first; a partial sum stands for what each pack gives
  };

  std::vector<Numbers> buffers = {};    // by buffer
  std::vector<Numbers> pack_sums = {};  // by buffer, of partial sums; empty without Nest::pack_sums
  std::vector<Place> places = {};
  std::size_t places_bytes = 0;                           // of a workspace; scratch lies behind its places
  std::size_t workspace_bytes = 0;                        // with scratch
  int threads = 1;                                        // each works in a workspace
  int workspaces = 1;                                     // that are allocated for the device
  int stack = 1;                                          // partial sums of each thread
  std::array<std::size_t, kMemoryClasses> by_class = {};  // a place counts for its largest buffer's class

  std::size_t& operator[](MemoryClass of) { return by_class[static_cast<std::size_t>(of)]; }
  std::size_t operator[](MemoryClass of) const { return by_class[static_cast<std::size_t>(of)]; }
  // The most that is allocated at once, in bytes.
  std::size_t peak() const;
};

MemoryPlan plan_memory(const Program& program, const Nest& nest);

}  // namespace lockstep::program
