#include "cpu/winograd_layout.h"

#include <algorithm>

#include "base/divide.h"
#include "base/error.h"

namespace lockstep::cpu {
namespace {

constexpr std::size_t kLine = 64;

// More than this costs even where L2 is larger, because weights and images want to stay there, too (LeNet's
// second convolution, Sapphire Rapids).
constexpr std::size_t kRoundBytes = 640 << 10;

// Weights that come from L3 are used for this many tiles; what is multiplied from then on is streamed, too.
// With tiles of 7, rounds of 8 run 20 % slower than rounds of 4 (128 channels on 14x14, Zen 5).
constexpr int kHeavyTiles = 8, kHeavyFrequencies = 4 * 9 * 9;
constexpr std::size_t kHeavyProducts = 5 << 19;

std::size_t transformed_weights(const program::Convolution& c) {
  const auto frequencies = static_cast<std::size_t>(TileGrid(c).frequencies());
  return c.weights() / static_cast<std::size_t>(c.taps()) * frequencies * sizeof(float);
}

std::size_t bytes_of(int frequencies, int tiles, int channels) {
  return static_cast<std::size_t>(frequencies) * static_cast<std::size_t>(tiles) *
         static_cast<std::size_t>(channels) * kPack * sizeof(float);
}

}  // namespace

const Winograd& winograd_of(const Kernels& kernels, const program::Convolution& c) {
  const auto found = std::ranges::find_if(kernels.winograd, [&](const Winograd& w) {
    return w.tile == c.algorithms.tile && w.kernel == c.kernel.height;
  });
  check(c.algorithms.winograd() && found != kernels.winograd.end(),
        "there is no fast convolution with tiles of {} under a kernel of {}", c.algorithms.tile,
        c.kernel.height);
  return *found;
}

bool weights_leave_cache(const program::Convolution& c, const CacheSizes& caches) {
  return transformed_weights(c) > 2 * caches.l2;
}

std::ptrdiff_t odd_lines(std::ptrdiff_t floats) { return ((floats + kPack - 1) / kPack | 1) * kPack; }

TileGrid::TileGrid(const program::Convolution& c)
    : tile_(c.algorithms.tile),
      side_(c.algorithms.tile + c.kernel.height - 1),
      in_(c.input.extent()),
      out_(c.output.extent()),
      padding_(c.padding),
      down_(divide_up(out_.height, tile_)),
      across_(divide_up(out_.width, tile_)) {}

TileGrid::Square TileGrid::square(int tile, std::ptrdiff_t element, program::Extent image,
                                  program::Extent padding) const {
  const int y = tile / across_ * tile_ - padding.height, x = tile % across_ * tile_ - padding.width;
  return {(static_cast<std::ptrdiff_t>(y) * image.width + x) * element,
          {image.width * element, element, -y, image.height - y, -x, image.width - x}};
}

TileGrid::Square TileGrid::input(int tile, std::ptrdiff_t element) const {
  return square(tile, element, in_, padding_);
}

TileGrid::Square TileGrid::output(int tile, std::ptrdiff_t element) const {
  return square(tile, element, out_, {0, 0});
}

std::ptrdiff_t ProductLayout::input_step() const {
  return odd_lines(static_cast<std::ptrdiff_t>(round_tiles) * in_channels * kPack);
}

std::ptrdiff_t ProductLayout::output_step() const {
  return odd_lines(static_cast<std::ptrdiff_t>(round_tiles) * round_groups * width * kPack);
}

ProductLayout make_product_layout(const program::Convolution& c, Direction direction, int tiles,
                                  const Kernels& kernels, const CacheSizes& caches) {
  const bool forward = direction == Direction::forward;
  const int side = c.algorithms.tile + c.kernel.height - 1, frequencies = side * side;
  ProductLayout l{};
  l.in_channels = forward ? c.input.channels : c.output.channels;
  l.out_channels = forward ? c.output.channels : c.input.channels;
  const auto inputs = [&](int n) { return bytes_of(frequencies, n, l.in_channels); };
  const auto products = [&](int n, int channels) { return bytes_of(frequencies, n, channels); };
  const bool heavy = weights_leave_cache(c, caches);
  // Weights that leave no room in L2 anyway come from there and from L3 in turns; the fewer rounds, the
  // better.
  const bool crowded = transformed_weights(c) > caches.l2;
  const std::size_t room = crowded ? caches.l2 : std::min(caches.l2, kRoundBytes);
  int most = std::min({tiles, kHeavyTiles, kHeavyFrequencies / frequencies});
  if (!heavy) {
    // A round's transformed inputs and at least half of its products stay in L2 together.
    most = tiles;
    while (most > 1 && inputs(most) + products(most, l.out_channels / 2) > room) --most;
  }
  l.round_tiles = divide_up(tiles, divide_up(tiles, most));  // balanced
  const TileSize tile = choose_tile(kernels, l.out_channels, l.round_tiles);
  l.neighbours = tile.positions;
  l.width = tile.channels;
  l.groups = divide_up(l.out_channels, l.width);
  l.round_groups = l.groups;
  const std::size_t room_for_products = heavy ? kHeavyProducts : room - std::min(room, inputs(l.round_tiles));
  while (l.round_groups > 1 && products(l.round_tiles, l.round_groups * l.width) > room_for_products) {
    --l.round_groups;
  }
  l.round_groups = divide_up(l.groups, divide_up(l.groups, l.round_groups));
  // One row for all groups is written by whole vectors, but a group then touches a cache line a channel.
  const bool wide = static_cast<std::size_t>(l.in_channels) * kLine <= caches.l1 / 4;
  l.row_groups = wide ? l.groups : 1;
  l.weight_step = odd_lines(static_cast<std::ptrdiff_t>(l.groups) * l.width * l.in_channels);
  return l;
}

}  // namespace lockstep::cpu
