#include "measure/layer_bench.h"

#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep::measure {
namespace {

constexpr double kPackFlops = 2.0 * arithmetic::kPack;

std::vector<LayerFigure> figures_of(const LayerShape& layer) {
  const cpu::Kernels& kernels = cpu::choose_kernels("");
  FmaPeak peak(kernels);
  return bench_layers(
      {.kernels = kernels, .layers = {layer}, .pace = {.seconds = 0, .window = 0, .fewest_rounds = 1}}, peak);
}

TEST(LayerBench, MeasuresEveryPassFastAndDirect) {
  std::vector<std::string> names;
  for (const LayerFigure& f : figures_of({"small", 20, 24, 12, 5, 0})) {
    names.push_back(f.layer + ", " + f.pass + ", " + f.algorithm);
    EXPECT_GT(f.time.seconds.median, 0) << names.back();
    EXPECT_GT(f.time.peak_flops, 0) << names.back();
    if (f.algorithm == "direct") {
      EXPECT_EQ(f.phases.products, 1) << names.back();
    } else {
      EXPECT_THAT((std::array{f.phases.into, f.phases.products, f.phases.back}),
                  testing::Each(testing::AllOf(testing::Gt(0), testing::Lt(1))))
          << names.back();
    }
  }
  EXPECT_THAT(names,
              testing::ElementsAre("small, forward, 4x4 tiles", "small, forward, direct",
                                   "small, input gradient, 4x4 tiles", "small, input gradient, direct",
                                   "small, weight gradient, 4x4 tiles", "small, weight gradient, direct"));
}

// A 7x7 image: 19 of 21 taps of a row lie inside, and 2x2 tiles of 36 frequencies cover it.
TEST(LayerBench, CountsWhatReachesTheOutputAndWhatIsMultiplied) {
  for (const LayerFigure& f : figures_of({"padded", 16, 32, 7, 3, 1})) {
    const double direct = kPackFlops * f.packs * 19 * 19 * 16 * 32;
    EXPECT_EQ(f.flops, direct) << f.pass;
    EXPECT_EQ(f.product_flops, f.algorithm == "direct" ? direct : kPackFlops * f.packs * 4 * 36 * 16 * 32)
        << f.pass;
  }
}

TEST(LayerBench, LargeWeightsComeInForSeveralPacks) {
  std::vector<int> packs;
  for (const LayerFigure& f : figures_of({"large", 256, 256, 4, 3, 1})) packs.push_back(f.packs);
  EXPECT_THAT(packs, testing::ElementsAre(4, 1, 4, 1, 1, 1));
}

TEST(LayerBench, SharesAreOfThePeakJustThen) {
  LayerFigure figure{.layer = "64",
                     .pass = "forward",
                     .algorithm = "4x4 tiles",
                     .packs = 4,
                     .flops = 3e9,
                     .product_flops = 1.5e9,
                     .time = {{0.25, 0.375, 0.5, 1}, 2e9},
                     .phases = {.into = 0.125, .products = 0.75, .back = 0.125}};
  EXPECT_EQ(figure.seconds_a_pack(), 0.125);
  EXPECT_EQ(figure.share(), 1.5) << "above 1: it saves multiplications";
  EXPECT_EQ(figure.product_share(), 1.0);
  EXPECT_EQ(figure.limit(), "cache") << "3/4 and not more";
  figure.product_flops = 1.6e9;
  EXPECT_EQ(figure.limit(), "multiply-adds");
}

}  // namespace
}  // namespace lockstep::measure
