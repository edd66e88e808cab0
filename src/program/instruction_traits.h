// What an instruction says about itself, beside its numbers: its name, its buffers, what it runs over.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::program {

enum class Role {
  activation,  // floats of a pack, [channel][y][x][lane]
  mask,        // one bit a float of a pack: relu blocked it
  labels,      // of a pack
  parameter,   // in canonical order, as a file has it
  prepared,    // a parameter as the device's kernels want it; its size is the device's business
  partial,     // sums over packs, still in the pack tree
  gradient,    // a finished mean
  state,       // what the update rule keeps for a parameter, or for the part of it that the device owns
  inbox,       // floats that other ranks send
  statistics,  // floats of a step that all packs may read, [pack or group of packs][number][channel]
  counts,      // 64-bit integers, which lie in the host's memory: examples by class, verdicts, hashes
};

enum class Over {
  packs,     // every instruction for each pack of the range
  elements,  // every instruction once, its elements divided among the threads
  host,      // every instruction once, by the thread that drives the device
};

// What an instruction is done for.
enum class WorkKind {
  products,  // convolution and linear layers, with what is joined to them
  layers,    // all other layers
  rest,      // what a step needs beside its layers: load, prepare, loss, check, update
};

// May an instruction over packs write its first output over an input? Its kernels then read an element for
// the last time before they write it.
enum class InPlace { never, first_input, any_input };

// Every instruction has such a constant, kTraits. A new one also says its buffers, signature(), and its
// sizes, sizes(), as a printed program shows them.
struct InstructionTraits {
  std::string_view name;
  Over over;
  WorkKind work;
  InPlace in_place = InPlace::never;
};

// The buffers of an instruction. Those that it may do without stand last.
struct Signature {
  std::vector<Role> inputs, outputs;
  std::size_t optional_inputs = 0, optional_outputs = 0;
};

}  // namespace lockstep::program
