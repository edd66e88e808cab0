// What the launches of a program need before the first one: the sizes of prepared parameters and of scratch
// memory, and the tiles of fast convolution that both depend on.
#pragma once
#include <initializer_list>

#include "base/divide.h"
#include "gpu/driver.h"
#include "gpu/gpu_memory.h"
#include "program/program.h"

namespace lockstep::gpu {

// What scratch memory is for. Instructions run one after the other and share it.
enum Scratch : std::size_t {
  kFirst,       // transformed inputs, or an unpooled gradient
  kSecond,      // transformed outputs
  kTransposed,  // lanes and channels exchanged
  kProducts,    // of weight gradients, by frequency
  kScratches
};

inline std::size_t product(std::initializer_list<int> factors) {
  std::size_t result = 1;
  for (const int factor : factors) result *= static_cast<std::size_t>(factor);
  return result;
}
inline int positions(const program::Shape& shape) { return shape.height * shape.width; }

// Channels as prepared parameters have them: whole tiles.
inline int padded(int channels, const Style& style) {
  return divide_up(channels, style.tile_outputs) * style.tile_outputs;
}

// The tiles of fast convolution.
struct Tiling {
  explicit Tiling(const program::Convolution& c)
      : tile(c.algorithms.tile),
        side(tile + c.kernel.height - 1),
        rows(divide_up(c.output.height, tile)),
        columns(divide_up(c.output.width, tile)) {}
  int frequencies() const { return side * side; }
  int tiles() const { return rows * columns; }
  int tile, side, rows, columns;
};

// Floats of prepared parameters and of scratch memory that a program needs with so many packs at once.
void plan_launches(const program::Program& program, const Style& style, MemorySizes& sizes);

}  // namespace lockstep::gpu
