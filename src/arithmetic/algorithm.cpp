#include "arithmetic/algorithm.h"

#include <array>
#include <cstdint>

#include "arithmetic/pack.h"

namespace lockstep::arithmetic {
namespace {

constexpr int kFewestChannels = 16, kFewestChannelsOfSeven = 32;

// Multiplications that winograd's algorithm with this tile needs for one pair of channels.
std::int64_t products(const ConvolutionShape& s, int tile) {
  const auto tiles = [tile](int outputs) { return std::int64_t{(outputs + tile - 1) / tile}; };
  const int side = tile + s.kernel_height - 1;
  return tiles(s.out_height()) * tiles(s.out_width()) * side * side;
}

// Pairs (output, tap) of one dimension whose input lies inside the image, at stride 1.
std::int64_t taps_inside(int outputs, int inputs, int kernel, int padding) {
  std::int64_t inside = 0;
  for (int output = 0; output < outputs; ++output) {
    for (int tap = 0; tap < kernel; ++tap) {
      const int input = output + tap - padding;
      inside += input >= 0 && input < inputs;
    }
  }
  return inside;
}

std::int64_t direct_taps(const ConvolutionShape& s) {
  return taps_inside(s.out_height(), s.height, s.kernel_height, s.padding_height) *
         taps_inside(s.out_width(), s.width, s.kernel_width, s.padding_width);
}

int best_even_tile(const ConvolutionShape& s) { return products(s, 4) < products(s, 2) ? 4 : 2; }

// A tile of 7 needs larger transforms and 2.25 times the weights of a tile of 4.
bool seven_pays(const ConvolutionShape& s) {
  return s.kernel_height == 3 && s.group_in_channels() >= kFewestChannelsOfSeven &&
         s.group_out_channels() >= kFewestChannelsOfSeven &&
         5 * products(s, 7) <= 4 * products(s, best_even_tile(s));
}

int best_tile(const ConvolutionShape& s) { return seven_pays(s) ? 7 : best_even_tile(s); }

template <int kTile>
bool winograd(const ConvolutionShape& s) {
  const bool square = s.kernel_height == s.kernel_width && s.padding_height == s.padding_width;
  return s.stride_height == 1 && s.stride_width == 1 && square &&
         (s.kernel_height == 3 || s.kernel_height == 5) && s.group_in_channels() >= kFewestChannels &&
         s.group_out_channels() >= kFewestChannels && best_tile(s) == kTile &&
         5 * products(s, kTile) <= 3 * direct_taps(s);
}
bool per_row(const ConvolutionShape& s) {
  return uses_row_chains(s.group_in_channels(), s.group_out_channels());
}
bool always(const ConvolutionShape&) { return true; }

// Best first; the first row that the rule allows and that applies is taken, and the last applies always.
struct Row {
  bool (*applies)(const ConvolutionShape&);
  ConvolutionAlgorithms algorithms;
};
constexpr std::array kTable{
    Row{winograd<2>, {ConvolutionAlgorithm::winograd, WeightGradientAlgorithm::winograd, 2}},
    Row{winograd<4>, {ConvolutionAlgorithm::winograd, WeightGradientAlgorithm::winograd, 4}},
    Row{winograd<7>, {ConvolutionAlgorithm::winograd, WeightGradientAlgorithm::winograd, 7}},
    Row{per_row, {ConvolutionAlgorithm::direct, WeightGradientAlgorithm::per_row}},
    Row{always, {ConvolutionAlgorithm::direct, WeightGradientAlgorithm::per_lane}},
};

}  // namespace

bool uses_row_chains(int in_channels, int out_channels) {
  return in_channels % kPack == 0 && out_channels % kPack == 0;
}

ConvolutionAlgorithms algorithms_for(const ConvolutionShape& shape, ConvolutionRule rule) {
  for (const Row& row : kTable) {
    const bool allowed = rule == ConvolutionRule::fast || !row.algorithms.winograd();
    if (allowed && row.applies(shape)) return row.algorithms;
  }
  return kTable.back().algorithms;
}

}  // namespace lockstep::arithmetic
