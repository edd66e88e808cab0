#include "program/statistics_rows.h"

namespace lockstep::program {
namespace {

constexpr int kTriples = 3, kSums = 2, kCoefficients = 4, kFactors = 3;  // numbers of a channel

// By input and by output: the numbers of a channel; 0 where the buffer holds no statistics.
struct NumbersOfAChannel {
  int channels = 0;
  std::vector<int> inputs = {}, outputs = {};
};

struct NumbersOf {
  template <class Other>
  NumbersOfAChannel operator()(const Other&) const {
    return {};
  }
  NumbersOfAChannel operator()(const NormStatistics& n) const { return {n.shape.channels, {0}, {kTriples}}; }
  NumbersOfAChannel operator()(const NormCoefficients& n) const {
    return {n.channels, {kTriples}, {kCoefficients}};
  }
  NumbersOfAChannel operator()(const RunningCoefficients& n) const {
    return {n.channels, {}, {kCoefficients}};
  }
  NumbersOfAChannel operator()(const NormForward& n) const {
    return {n.shape.channels, {0, kCoefficients}, {}};
  }
  NumbersOfAChannel operator()(const NormSums& n) const {
    return {n.shape.channels, {0, 0, kCoefficients}, {kSums}};
  }
  NumbersOfAChannel operator()(const NormFactors& n) const {
    return {n.channels, {kTriples, kCoefficients, kSums}, {kFactors}};
  }
  NumbersOfAChannel operator()(const NormInputGradient& n) const {
    return {n.shape.channels, {0, 0, kCoefficients, kFactors}, {}};
  }
  NumbersOfAChannel operator()(const NormRunning& n) const { return {n.channels, {0, kTriples}, {}}; }
};

}  // namespace

std::vector<StatisticsRows> statistics_rows(const Instruction& instruction) {
  const NumbersOfAChannel numbers = std::visit(NumbersOf{}, instruction.operation);
  std::vector<StatisticsRows> rows;
  const auto add = [&](const std::vector<BufferId>& buffers, const std::vector<int>& counts) {
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (counts[i] > 0)
        rows.push_back(
            {buffers[i], static_cast<std::size_t>(numbers.channels) * static_cast<std::size_t>(counts[i])});
    }
  };
  add(instruction.inputs, numbers.inputs);
  add(instruction.outputs, numbers.outputs);
  return rows;
}

}  // namespace lockstep::program
