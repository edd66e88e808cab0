// Weight and bias gradient (of a layer that has a bias) of a convolution with few channels: a chain in each
// lane, then the lane tree. Made once per layer, then run for every pack.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "cpu/kernels.h"
#include "program/geometry.h"

namespace lockstep::cpu {

class LaneChainPlan {
 public:
  LaneChainPlan(const program::Convolution& convolution, const Kernels& kernels);

  std::size_t scratch_floats() const;

  // x [in][y][x][lane], dy [out][y][x][lane]
  void run(const float* x, const float* dy, const JoinTarget& weights, const JoinTarget& bias,
           float* scratch) const;

  // The same from the gradient behind relu and a 2x2 average pool: dy is made two rows at a time and never
  // stored as a whole.
  void run_unpooled(const float* x, const float* pooled, const std::uint8_t* mask, const JoinTarget& weights,
                    const JoinTarget& bias, float* scratch) const;

 private:
  // Consecutive elements of a weight's row [input channel][ky][kx] that are staged together.
  struct Chunk {
    int first = 0, elements = 0;
    std::array<std::vector<TapRun>, kMaxRun + 1> runs;  // by length
  };
  struct Scratch {
    float *padded, *stage, *values, *rows, *dy, *bias;
  };
  struct Layout {  // where each part of the scratch begins, in floats
    std::ptrdiff_t stage, values, rows, dy, bias, end;
  };

  void add_run(int channel, int ky, int kx, int length);
  Layout layout() const;
  Scratch divide(float* scratch) const;
  const float* padded_input(const float* x, float* padded) const;
  void chains(const Chunk& chunk, int channels, LaneChainJob job) const;
  void tree(const Chunk& chunk, int channels, const Scratch& scratch) const;
  std::ptrdiff_t row_elements() const { return static_cast<std::ptrdiff_t>(c_.input.channels) * c_.taps(); }

  const Kernels& kernels_;
  const program::Convolution c_;
  const program::Extent padded_;  // of the input, with the zeros around it
  int tile_ = 1;                  // most output channels of a tile
  std::vector<int> first_;        // channel of every tile, and the end
  std::vector<Chunk> chunks_;
};

}  // namespace lockstep::cpu
