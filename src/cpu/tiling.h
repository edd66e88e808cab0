// How a layer is cut for registers and caches. These choices change speed, never bits.
#pragma once
#include <cstddef>
#include <vector>

#include "cpu/kernels.h"

namespace lockstep::cpu {

struct CacheSizes {
  std::size_t l1 = 32 << 10;   // data, in bytes
  std::size_t l2 = 512 << 10;  // of a core
};
CacheSizes cache_sizes();  // of this processor, or the defaults where it does not say

// Boundaries that cut [0, count) into the fewest parts of at most `most`, as equal as can be.
std::vector<int> balanced(int count, int most);

// Output channels x positions of a tile of sums in registers (simd/tap_tile.h).
struct TileSize {
  int channels, positions;
};
// The tile that needs the fewest cycles for one tap of `channels` x `width` outputs by a simple model: two
// multiply-adds and two loads a cycle, four cycles of latency.
TileSize choose_tile(const Kernels& kernels, int channels, int width);

// The most channels that a tile of these positions can have.
int most_tile_channels(const Kernels& kernels, int positions);

// Bytes of input that tiles should read again while they are in cache. With 32 registers a tile has
// enough work for each load to hide L2's latency: LeNet's second convolution runs at 96 % of peak from 24 KB
// and at 98 % from 96 KB (AVX-512, Sapphire Rapids). With 16 registers L1 decides: 80 % became 95 % (AVX2,
// Zen 3).
std::size_t input_room(const Kernels& kernels, const CacheSizes& caches);

// A piece of work whose input stays in cache: input channels x output rows x output columns.
struct BlockSize {
  int channels, rows, columns;
};
struct BlockRequest {
  int in_channels, in_height, in_width;
  int rows, columns;  // outputs
  int kernel_height, kernel_width, stride_height, stride_width;
  int multiple;  // rows and columns of a block are a multiple of this, unless the whole is smaller
};
BlockSize choose_block(const BlockRequest& request, std::size_t room);

}  // namespace lockstep::cpu
