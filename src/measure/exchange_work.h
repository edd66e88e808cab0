// What the exchange lists of programs make every device do, counted instruction by instruction.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "program/program.h"

namespace lockstep::measure {

// Bytes of floats. The receiver copies, so what is received is what is copied.
struct DeviceWork {
  std::size_t sent = 0;
  std::size_t collected = 0;  // received of others' subtrees
  std::size_t joined = 0;     // subtrees read to make the mean, its own among them
  std::size_t returned = 0;   // received of finished means
  std::size_t received() const { return collected + returned; }
};

std::vector<DeviceWork> work_of(std::span<const program::Program> programs);

// Copied by all devices together.
std::size_t bytes_in_all(std::span<const DeviceWork> work);

// Bytes that a rank has to wait for: first collect and join, then return. Each round lasts as long as its
// busiest device or, with fewer cores than devices, as the work of all of them divided among the cores.
double longest_path(std::span<const DeviceWork> work, int cores);

}  // namespace lockstep::measure
