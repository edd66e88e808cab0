// What launches need beside their instruction: the driver, the memory and the sizes of the kernels' tiles.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "gpu/driver.h"
#include "gpu/gpu_memory.h"
#include "program/program.h"

namespace lockstep::gpu {

struct LaunchContext {
  Driver& driver;
  const GpuMemory& memory;
  const program::Program& program;
  const Style style;

  // Launches for the work of `count` packs, of `count` floats that a kernel takes by 16, or with `count`
  // work-items.
  void items(std::string_view kernel, const std::vector<Argument>& arguments, std::size_t count) const;
  void floats(std::string_view kernel, const std::vector<Argument>& arguments, std::size_t count) const;
  void elements(std::string_view kernel, const std::vector<Argument>& arguments, std::size_t count) const;

  // The form of a kernel whose work-items take several packs at once, and the number of its tiles.
  std::string tiled(std::string_view kernel, int packs) const;
  std::size_t tiles_of(int packs, int channels) const;

  // Transforms of weights take neighbouring channels as lanes.
  int weight_lanes(int channels) const;

  std::size_t elements_of(program::BufferId id) const {
    return program.buffers[static_cast<std::size_t>(id)].elements;
  }

 private:
  int tile_packs(int packs) const;
};

}  // namespace lockstep::gpu
