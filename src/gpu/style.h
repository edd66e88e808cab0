// How the kernels are compiled for a device: lane style and tile sizes. The bits are the same for all.
#pragma once
#include <cstddef>

namespace lockstep::gpu {

struct Style {
  bool pack_per_item = false;  // a work-item holds a vector of 16 lanes; else 16 neighbours are a pack
  int work_group = 128;        // its work-items

  int tile_outputs = 8;  // output channels and packs whose sums one work-item holds
  int tile_packs = 8;
  int lane_outputs = 8, lane_taps = 10;     // the same for weight gradients by lane chains
  int outer_outputs = 8, outer_blocks = 4;  // and by outer products: outputs, blocks of 16 inputs

  bool operator==(const Style&) const = default;

  // Work-items for the work of `count` packs, or for `floats` of a kernel that takes them by 16.
  std::size_t items(std::size_t count) const { return pack_per_item ? count : count * kLanes; }
  std::size_t items_for_floats(std::size_t floats) const { return items((floats + kLanes - 1) / kLanes); }

 private:
  static constexpr std::size_t kLanes = 16;
};

// For GPUs.
inline constexpr Style kLaneStyle{};
// For OpenCL on a CPU whose vectors have that number of floats.
constexpr Style pack_style(int vector_floats) {
  return vector_floats >= 16 ? Style{true, 1, 10, 2, 5, 5, 13, 2} : Style{true, 1, 5, 1, 2, 3, 6, 1};
}

}  // namespace lockstep::gpu
