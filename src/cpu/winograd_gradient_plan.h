// Weight and bias gradient (of a layer that has a bias) of a fast convolution, pack by pack: x and dy are
// transformed, multiplied per frequency in chains over (tile, example), and transformed back on their way
// into the pack tree. Output channels are in the lanes of dy; x stays as it is, an example a lane, because
// its numbers are broadcast.
#pragma once
#include "cpu/winograd_layout.h"

namespace lockstep::cpu {

class WinogradGradientPlan {
 public:
  WinogradGradientPlan(const program::Convolution& convolution, const Kernels& kernels,
                       const CacheSizes& caches);

  std::size_t scratch_floats() const;

  // x [in][y][x][lane], dy [out][y][x][lane]
  void run(const float* x, const float* dy, const JoinTarget& weights, const JoinTarget& bias, float* scratch,
           Laps* laps = nullptr) const;

 private:
  struct Scratch {
    float* x;         // [frequency][tile][input channel][example]
    float* dy;        // of a block of output channels: [frequency][tile][example][output channel]
    float* turned;    // dy of 16 output channels and a row of tiles: [example][position][output channel]
    float* products;  // of every block: [frequency][input channel][output channel]
    float* stage;     // [input channel][tap][16 output channels]
    float* rows;      // [16 output channels][input channel][tap]
    float* bias;      // per-lane sums
  };
  struct Range {
    int first, count;
  };

  std::ptrdiff_t block_floats() const { return grid_.frequencies() * products_step_; }
  int blocks() const;
  Scratch divide(float* scratch, std::size_t* floats) const;
  void transform_x(const float* x, Range tiles, float* to) const;
  void transform_dy(const float* dy, Range tiles, Range out, const Scratch& scratch) const;
  void turn(const float* dy, Range channels, Range rows, float* to) const;
  void multiply(Range tiles, Range in, Range out, const Scratch& scratch, float* products) const;
  void transform_back(Range in, Range out, const float* products, const Scratch& scratch,
                      const JoinTarget& weights) const;

  const Kernels& kernels_;
  const Winograd& winograd_;
  const program::Convolution c_;
  const TileGrid grid_;
  const int width_;           // output channels, rounded up to whole vectors
  int round_tiles_;           // tiles between two visits of the products
  int block_in_, block_out_;  // channels of a block, which is transformed back while it is in cache
  std::ptrdiff_t x_step_ = 0, dy_step_ = 0, products_step_ = 0;  // floats from one frequency to the next
  std::ptrdiff_t turned_step_ = 0;                               // from one example to the next
};

}  // namespace lockstep::cpu
