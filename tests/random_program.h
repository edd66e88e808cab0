// Random programs of several ranks, and what a plain interpreter makes of them.
//
// A program is drawn as one global order of operations: a step of work on a rank, a message, a join. Each is
// carried out at once on plain arrays and appended to the lists of its ranks, with waits for everything
// before it that touches the same numbers. So the lists are legal by construction, and any run of them must
// come to the interpreter's numbers.
#pragma once
#include <cstdint>
#include <random>
#include <vector>

#include "device/device.h"
#include "program/program.h"

namespace lockstep::random_program {

// The numbers of one rank: activations [pack][element][lane], partial sums [subtree][element], the rest as it
// is.
struct Numbers {
  std::vector<std::vector<float>> floats;         // by buffer
  std::vector<std::vector<std::int64_t>> counts;  // by buffer
};

struct Drawn {
  std::vector<program::Program> programs;  // by rank
  std::vector<Numbers> before, after;      // by rank
  std::vector<std::uint8_t> pixels, labels;
  std::vector<std::uint32_t> examples;
  int joins = 0, messages = 0, segments = 0;

  device::StepInput input() const { return {.minibatch = {pixels.data(), labels.data(), examples}}; }
};

Drawn draw(std::uint32_t seed);

}  // namespace lockstep::random_program
