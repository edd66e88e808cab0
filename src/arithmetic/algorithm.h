// Which algorithm a layer uses: a function of the whole layer's shape alone, never of device, batch or split.
#pragma once

namespace lockstep::arithmetic {

// A convolution layer as a whole. Groups divide both channel counts.
struct ConvolutionShape {
  int in_channels = 0, out_channels = 0;
  int height = 0, width = 0;  // of the input
  int kernel_height = 0, kernel_width = 0;
  int stride_height = 1, stride_width = 1;
  int padding_height = 0, padding_width = 0;
  int groups = 1;

  int out_height() const { return (height + 2 * padding_height - kernel_height) / stride_height + 1; }
  int out_width() const { return (width + 2 * padding_width - kernel_width) / stride_width + 1; }
  int group_in_channels() const { return in_channels / groups; }
  int group_out_channels() const { return out_channels / groups; }
};

// The algorithms that a model allows. Its bits depend on this rule, so the rule is part of its configuration.
enum class ConvolutionRule {
  fast,    // Winograd's algorithm where the law's table says that it pays
  direct,  // every layer direct
};

// The rule of a model that names none.
inline constexpr ConvolutionRule kUsualConvolution = ConvolutionRule::fast;

// Forward and input gradient.
enum class ConvolutionAlgorithm {
  direct,    // one fma chain per output element
  winograd,  // tiles: transform, a chain over channels per frequency, transform back
};

enum class WeightGradientAlgorithm {
  per_lane,  // A: a chain over (y, x) in each lane, then the lane tree
  per_row,   // B: for each row a chain over (x, example) of the pack; rows are added in order
  winograd,  // per frequency a chain over (tile, example) of the pack, then transformed back
};

struct ConvolutionAlgorithms {
  ConvolutionAlgorithm convolution = ConvolutionAlgorithm::direct;
  WeightGradientAlgorithm weight_gradient = WeightGradientAlgorithm::per_lane;
  int tile = 0;  // of winograd: outputs a side

  bool winograd() const { return convolution == ConvolutionAlgorithm::winograd; }
  bool operator==(const ConvolutionAlgorithms&) const = default;
};

// Both channel counts, of a group, are multiples of 16.
bool uses_row_chains(int in_channels, int out_channels);

ConvolutionAlgorithms algorithms_for(const ConvolutionShape& shape, ConvolutionRule rule);

}  // namespace lockstep::arithmetic
