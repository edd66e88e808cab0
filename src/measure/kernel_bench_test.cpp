#include "measure/kernel_bench.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "measure/crew_for_test.h"

namespace lockstep::measure {
namespace {

TEST(KernelBench, MeasuresEveryPartOfTheStepInItsOrder) {
  FmaPeak peak(cpu::choose_kernels(""));
  const std::vector<KernelFigure> figures =
      bench_kernels({.make_crew = make_crew_for_test,
                     .examples = 16,
                     .pace = {.seconds = 0, .window = 0, .fewest_rounds = 1}},
                    peak);
  std::vector<std::string> names;
  double flops = 0;
  for (const KernelFigure& figure : figures) {
    names.push_back(figure.name);
    flops += figure.flops;
    EXPECT_EQ(figure.algorithm.empty(), figure.flops == 0) << figure.name;
    EXPECT_GT(figure.time.seconds.median, 0) << figure.name;
  }
  EXPECT_THAT(names, testing::ElementsAre(
                         "prepare", "input load", "conv1 forward", "conv2 forward", "linear1 forward",
                         "linear2 forward", "loss", "linear2 input gradient", "linear2 weight gradient",
                         "linear1 relu backward", "linear1 input gradient", "linear1 weight gradient",
                         "conv2 unpool", "conv2 input gradient", "conv2 weight gradient",
                         "conv1 weight gradient", "exchange", "check", "update"));
  EXPECT_EQ(flops, 16 * 10'636'800.0) << "the parts are the whole step";
  EXPECT_GT(peak.flops_per_second(), 0) << "the peak is sampled between the windows";
}

TEST(KernelBench, SharesComeFromTheMedian) {
  const KernelFigure figure{
      .name = "conv", .algorithm = "direct", .flops = 3e9, .time = {{0.25, 0.375, 0.5, 1}, 6e9}};
  EXPECT_EQ(figure.flops_per_second(), 6e9);
  EXPECT_EQ(figure.share(8e9), 0.75);
  EXPECT_EQ(figure.share_then(), 0.5);
}

}  // namespace
}  // namespace lockstep::measure
