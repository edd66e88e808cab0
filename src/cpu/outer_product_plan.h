// Weight and bias gradient (of a layer that has a bias) as a chain for each row of a pack: linear layers, and
// convolutions whose channel counts are multiples of 16. Input channels are brought into the lanes first.
// Made once per layer, then run for packs.
#pragma once
#include <span>

#include "cpu/kernels.h"
#include "program/geometry.h"

namespace lockstep::cpu {

class OuterProductPlan {
 public:
  OuterProductPlan(const program::Convolution& convolution, const Kernels& kernels);

  struct PackOperands {
    const float* x;   // [in][y][x][lane]
    const float* dy;  // [out][y][x][lane]
    JoinTarget weights, bias;
  };

  // Packs one run gains from: 1 unless sums go straight into the gradient.
  int most_packs(int group) const { return straight_ ? group : 1; }

  std::size_t scratch_floats(int packs) const;

  // Several packs at once: a block of the gradient meets all of them while it is in cache.
  void run(std::span<const PackOperands> packs, float* scratch) const;

 private:
  std::ptrdiff_t pack_floats() const;  // of one transposed pack
  void transpose(const float* x, float* to) const;
  OuterProductJob tap_product(int tap, const float* x, const float* dy) const;
  void run_straight(std::span<const PackOperands> packs, const float* transposed) const;
  void run_convolution(const PackOperands& pack, const float* transposed, float* scratch) const;

  const Kernels& kernels_;
  const program::Convolution c_;
  const int width_;  // input channels, rounded up to whole packs
  int rows_ = 1;     // output channels of a block
  bool straight_;    // sums go straight into the gradient: one tap, whole vectors
};

}  // namespace lockstep::cpu
