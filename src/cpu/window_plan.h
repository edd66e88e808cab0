// A convolution with short chains, its relu and its 2x2 average pool as window jobs: only the pooled
// output and the mask is stored. Plain code; all vector work goes through Kernels.
#pragma once
#include <cstdint>
#include <vector>

#include "cpu/convolution_plan.h"
#include "cpu/kernels.h"
#include "cpu/tiling.h"
#include "program/geometry.h"

namespace lockstep::cpu {

class WindowPlan : public PreparedWeights, public ConvolutionPlan {
 public:
  // Whether a layer can run like this and gains by it.
  static bool suits(const program::Convolution& convolution, program::Epilogue epilogue);

  // Requires: suits().
  WindowPlan(const program::Convolution& convolution, const Kernels& kernels, const CacheSizes& caches);

  int most_packs() const override { return 1; }

  // Prepared: [channel tile][input channel][tap][tile].
  std::size_t prepared_floats() const override;
  void prepare(const float* weights, float* prepared, int part, int parts) const override;

  std::size_t scratch_floats() const override { return 0; }
  void run(const Operands& operands, float* scratch) const override;

 private:
  const Kernels& kernels_;
  const program::Shape in_, out_;
  std::vector<std::int32_t> taps_;       // of a whole chain
  std::vector<int> channels_, columns_;  // where tiles of channels and streams of windows begin, and the end
  const std::vector<float> no_bias_;
};

}  // namespace lockstep::cpu
