#include "arithmetic/algorithm.h"

#include <array>

#include "arithmetic/pack.h"

namespace lockstep::arithmetic {
namespace {

bool always(const ConvolutionShape&) { return true; }
bool per_row(const ConvolutionShape& shape) { return uses_row_chains(shape.in_channels, shape.out_channels); }

// Best first; the first row that applies is taken, and the last applies always.
struct Row {
  bool (*applies)(const ConvolutionShape&);
  ConvolutionAlgorithms algorithms;
};
constexpr std::array kTable{
    Row{per_row, {ConvolutionAlgorithm::direct, WeightGradientAlgorithm::per_row}},
    Row{always, {ConvolutionAlgorithm::direct, WeightGradientAlgorithm::per_lane}},
};

}  // namespace

bool uses_row_chains(int in_channels, int out_channels) {
  return in_channels % kPack == 0 && out_channels % kPack == 0;
}

ConvolutionAlgorithms algorithms_for(const ConvolutionShape& shape) {
  for (const Row& row : kTable) {
    if (row.applies(shape)) return row.algorithms;
  }
  return kTable.back().algorithms;
}

}  // namespace lockstep::arithmetic
