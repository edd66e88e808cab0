// A convolution's forward pass or input gradient, or a linear layer, as tiles of sums over lists of taps:
// made once per layer, then run for every pack. Plain code; all vector work goes through Kernels.
#pragma once
#include <cstdint>
#include <vector>

#include "cpu/convolution_plan.h"
#include "cpu/kernels.h"
#include "cpu/tiling.h"
#include "program/geometry.h"

namespace lockstep::cpu {

class TapTilePlan : public PreparedWeights, public ConvolutionPlan {
 public:
  // most_packs: how many packs a linear layer may be given at once.
  TapTilePlan(const program::Convolution& convolution, Direction direction, program::Epilogue epilogue,
              int most_packs, const Kernels& kernels, const CacheSizes& caches);

  // Packs one run can take: 1 unless the layer is linear.
  int most_packs() const override { return static_cast<int>(blocks_.size()); }

  // Prepared: [channel block][channel group][input channel][tap][channel of the group]. The input gradient of
  // a linear layer wants neighbouring inputs of each output, which is the canonical order.
  bool canonical() const override { return linear_ && direction_ == Direction::input_gradient; }
  std::size_t prepared_floats() const override;
  void prepare(const float* weights, float* prepared, int part, int parts) const override;

  std::size_t scratch_floats() const override;
  void run(const Operands& operands, float* scratch) const override;

 private:
  struct Stream {  // positions that run as one job
    int width;     // neighbours in a tile
    bool vertical;
    int few_taps;  // 0 or 1: all positions have so many; 2: two or more
    std::vector<Position> positions;
    std::ptrdiff_t first_sum;  // in positions, within the block
  };
  struct Channels {
    int first, count;
  };
  struct Block {
    int row, column, rows, columns;  // of the output
    std::vector<Stream> streams;
  };
  struct Scratch {
    float *start, *sums, *finished;
  };

  Block make_block(int row, int column, program::Extent out);
  int neighbours(int list, int row, int column, int row_step, int column_step, const Block& block,
                 const std::vector<bool>& taken);
  std::vector<Tap> taps_of(int row, int column) const;
  int list_of(const std::vector<Tap>& taps);
  bool dense() const { return epilogue_ != program::Epilogue::none; }
  Scratch divide(float* scratch) const;
  // Where the weights of a group for `channels` input channels from `in_channel` on begin.
  std::ptrdiff_t weights_of(int in_channel, int channels, Channels group) const;
  Channels group(std::size_t g) const { return {first_[g], first_[g + 1] - first_[g]}; }
  void run_stream(const Block& block, const Stream& stream, int in_channel, Channels channels,
                  const Operands& operands, const Scratch& scratch) const;
  void finish_block(const Block& block, Channels channels, const Operands& operands,
                    const float* finished) const;

  const Kernels& kernels_;
  const Direction direction_;
  const program::Epilogue epilogue_;
  const int in_channels_, out_channels_;
  const program::Extent in_, out_, kernel_, stride_, padding_;
  const bool linear_;
  // From one channel, row or column to the next, in floats.
  struct Strides {
    std::ptrdiff_t channel, row, column;
  };
  const Strides in_step_, out_step_;
  TileSize tile_;
  BlockSize block_;
  int listed_ = 1;          // input channels written out in a tap list
  int widest_ = 1;          // output channels of a group
  int row_ = 1;             // floats from the weights of one tap to those of the next
  std::vector<int> first_;  // channel of every group, and the end
  std::vector<Tap> taps_;
  std::vector<std::vector<Tap>> lists_;  // of one channel, and where each stands in taps_
  std::vector<int> list_starts_;
  std::vector<std::vector<Block>> blocks_;  // for one pack, for two, ...
};

}  // namespace lockstep::cpu
