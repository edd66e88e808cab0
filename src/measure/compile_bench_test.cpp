#include "measure/compile_bench.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "measure/residual_network.h"

namespace lockstep::measure {
namespace {

CompileFigure figure_of(int devices) {
  return bench_compile({.devices = devices, .pace = {.seconds = 0, .window = 0, .fewest_rounds = 1}});
}

TEST(CompileBench, CompilesTheListsOfAllRanksOfTwentyLayers) {
  const CompileFigure one = figure_of(1), sixteen = figure_of(16);
  EXPECT_EQ(one.devices, 1);
  EXPECT_EQ(sixteen.devices, 16);
  EXPECT_EQ(sixteen.layers, 20);
  // Work sixteen times over, and messages from every rank to every other.
  EXPECT_GT(sixteen.instructions, 16 * one.instructions);
  EXPECT_GT(sixteen.seconds.median, 0);
}

TEST(CompileBench, TheNetworkHasAsManyLayersWithWeightsAsItSays) {
  for (const int blocks : {1, 9}) {
    const std::vector<model::Parameter> parameters = model::parameters_of(residual_network(blocks));
    EXPECT_EQ(parameters.size(), 2U * (2 * static_cast<std::size_t>(blocks) + 2))
        << "weight and bias of each";
    EXPECT_EQ(std::ranges::count_if(
                  residual_network(blocks).layers,
                  [](const model::Layer& layer) { return std::holds_alternative<model::Add>(layer.kind); }),
              blocks);
  }
}

}  // namespace
}  // namespace lockstep::measure
