// What the executable knows of a layer that multiplies: weights in the form its kernels want, and a way to
// run it for packs. Plans are made once per layer; they are plain code, all vector work goes through Kernels.
#pragma once
#include <cstddef>
#include <cstdint>

#include "cpu/laps.h"

namespace lockstep::cpu {

enum class Direction { forward, input_gradient };

// A parameter as kernels want it.
class PreparedWeights {
 public:
  virtual ~PreparedWeights() = default;

  // The kernels use the parameter where it lies: there is nothing to prepare.
  virtual bool canonical() const { return false; }
  virtual std::size_t prepared_floats() const = 0;

  // Part `part` of `parts` of: weights, in canonical order, into their prepared form.
  virtual void prepare(const float* weights, float* prepared, int part, int parts) const = 0;
};

// One direction of a layer.
class ConvolutionPlan {
 public:
  virtual ~ConvolutionPlan() = default;

  // Packs one run can take.
  virtual int most_packs() const = 0;
  virtual std::size_t scratch_floats() const = 0;

  struct Operands {
    const float* input;    // x, or dy
    const float* weights;  // prepared, or the parameter itself
    const float* bias;     // [out channel]; null: chains start at +0
    float* output;         // y (pooled: the pooled y), or dx
    std::uint8_t* mask;    // of relu_average_pool
    int packs = 1;         // one behind the other, input and output
    Laps* laps = nullptr;  // of a fast convolution: its phases are added here
  };
  // Requires: scratch of scratch_floats(), for this call alone.
  virtual void run(const Operands& operands, float* scratch) const = 0;
};

}  // namespace lockstep::cpu
