// Fast convolution forward, or its input gradient: a round of tiles is transformed, multiplied frequency by
// frequency, and transformed back.
#pragma once
#include <vector>

#include "cpu/winograd_layout.h"

namespace lockstep::cpu {

class WinogradPlan : public ConvolutionPlan {
 public:
  // weights_offset: where the direction's weights begin in the prepared ones.
  WinogradPlan(const program::Convolution& convolution, Direction direction, program::Epilogue epilogue,
               int most_packs, const ProductLayout& layout, std::ptrdiff_t weights_offset,
               const Kernels& kernels);

  int most_packs() const override { return most_packs_; }
  std::size_t scratch_floats() const override;
  void run(const Operands& operands, float* scratch) const override;

 private:
  struct Stream {  // products of one row of frequencies that run as one job
    int neighbours;
    std::vector<Position> positions;
  };
  struct Scratch {
    float *inputs, *products, *zero;
  };
  // Tiles [first, first + count) of all packs, and groups [group, group + groups) of output channels.
  struct Round {
    int first, count, group, groups;
  };

  std::vector<Stream> streams_of(int tiles, int groups) const;
  Scratch divide(float* scratch) const;
  void transform_in(const Operands& operands, const Round& round, float* inputs) const;
  void multiply(const Operands& operands, const Round& round, const Scratch& scratch) const;
  void transform_out(const Operands& operands, const Round& round, const float* products) const;
  FromFrequencies transform_back() const;
  void place_output(const Operands& operands, int pack, int tile, int channel, FromFrequenciesJob& job) const;
  void place_input_gradient(const Operands& operands, int pack, int tile, int channel,
                            FromFrequenciesJob& job) const;

  const Kernels& kernels_;
  const Winograd& winograd_;
  const program::Convolution c_;
  const Direction direction_;
  const program::Epilogue epilogue_;
  const int most_packs_;
  const TileGrid grid_;
  const ProductLayout layout_;
  const std::ptrdiff_t weights_offset_, input_step_, output_step_;
  std::vector<Tap> taps_;  // the input channels
  const std::vector<float> no_bias_;
  // By tiles of a round: of a round with all its groups, and of the last, which may have fewer.
  std::vector<std::vector<Stream>> full_, last_;
};

}  // namespace lockstep::cpu
