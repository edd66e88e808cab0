// Turns an instruction into launches of kernels. It knows where the instruction's buffers are and what the
// kernels are called, and nothing else.
#pragma once
#include <string>
#include <vector>

#include "gpu/driver.h"
#include "gpu/gpu_memory.h"
#include "program/program.h"

namespace lockstep::gpu {

// The packs one call works on.
struct PackGroup {
  int first = 0;  // in the device's share
  int packs = 0;
  int examples = 0;  // that are there; the last pack may have absent lanes
};

class Launcher {
 public:
  // Requires: all outlive it.
  Launcher(Driver& driver, const GpuMemory& memory, const program::Program& program);

  // Every kind of instruction that runs over packs. The sums of each pack end in pack_sums().
  void run(const program::Instruction& instruction, const PackGroup& group) const;

  void prepare(const program::Instruction& instruction) const;

  // Adds the group's packs to the stack of a partial sum.
  void join_packs(program::BufferId partial, const PackGroup& group) const;

 private:
  struct Runner;

  void items(std::string_view kernel, const std::vector<Argument>& arguments, std::size_t count) const;
  void floats(std::string_view kernel, const std::vector<Argument>& arguments, std::size_t count) const;
  void elements(std::string_view kernel, const std::vector<Argument>& arguments, std::size_t count) const;
  std::string tiled(std::string_view kernel, int packs) const;
  std::size_t tiles_of(int packs, int channels) const;
  int tile_packs(int packs) const;
  int weight_lanes(int channels) const;

  Driver& driver_;
  const GpuMemory& memory_;
  const program::Program& program_;
  const Style style_;
};

}  // namespace lockstep::gpu
