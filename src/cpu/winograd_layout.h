// How a layer of fast convolution is cut: into tiles of the image, and its products into register tiles and
// rounds that stay in cache. These choices change speed, never bits.
#pragma once
#include <vector>

#include "cpu/convolution_plan.h"
#include "cpu/kernels.h"
#include "cpu/tiling.h"
#include "program/geometry.h"

namespace lockstep::cpu {

// The transforms for a layer. Requires: the layer is one of winograd's.
const Winograd& winograd_of(const Kernels& kernels, const program::Convolution& convolution);

// Floats from one frequency to the next: an odd number of cache lines, so that frequencies do not fight for
// the same sets of a cache.
std::ptrdiff_t odd_lines(std::ptrdiff_t floats);

// The tiles of one example, numbered row by row.
class TileGrid {
 public:
  explicit TileGrid(const program::Convolution& convolution);

  int count() const { return down_ * across_; }
  int side() const { return side_; }
  int frequencies() const { return side_ * side_; }

  // A tile's square of the input or of the output: the offset of its first element in a channel, in
  // elements, and what of it exists. Elements are `element` floats apart.
  struct Square {
    std::ptrdiff_t offset;
    TileWindow window;
  };
  Square input(int tile, std::ptrdiff_t element) const;
  Square output(int tile, std::ptrdiff_t element) const;

  int first_row(int tile) const { return tile / across_ * tile_; }  // of the output
  bool in_first_row(int tile) const { return tile / across_ == 0; }
  bool in_first_column(int tile) const { return tile % across_ == 0; }

 private:
  Square square(int tile, std::ptrdiff_t element, program::Extent image, program::Extent padding) const;

  const int tile_, side_;
  const program::Extent in_, out_, padding_;
  const int down_, across_;
};

// The transformed weights are more than twice L2, so none of them stays there from one use to the next: they
// should serve many tiles at once.
bool weights_leave_cache(const program::Convolution& convolution, const CacheSizes& caches);

// One direction's products: per frequency [tiles][in channels] times [in][out] gives [tiles][out].
// A group is the output channels of a register tile. Weights are [frequency][row of groups][in][channels of
// the row].
struct ProductLayout {
  int in_channels, out_channels;
  int width;       // output channels of a group
  int groups;      // the last one may hold channels that do not exist
  int neighbours;  // tiles of a register tile
  int row_groups;  // of a row of weights
  int round_tiles, round_groups;
  std::ptrdiff_t weight_step;  // floats from one frequency to the next

  int row() const { return row_groups * width; }

  // Where a weight of frequency 0 lies. Output channels of a row are neighbours.
  std::ptrdiff_t weight(int out_channel, int in_channel) const {
    return (static_cast<std::ptrdiff_t>(out_channel / row()) * in_channels + in_channel) * row() +
           out_channel % row();
  }
  std::ptrdiff_t input_step() const;
  std::ptrdiff_t output_step() const;
};

// `tiles`: the most that one run is given.
ProductLayout make_product_layout(const program::Convolution& convolution, Direction direction, int tiles,
                                  const Kernels& kernels, const CacheSizes& caches);

}  // namespace lockstep::cpu
