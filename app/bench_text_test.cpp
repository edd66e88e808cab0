#include "bench_text.h"

#include <gtest/gtest.h>

namespace lockstep::app {
namespace {

BenchFigures figures() {
  return {.target = "avx2",
          .convolution = arithmetic::ConvolutionRule::direct,
          .core_peak = {100e9, 90e9, 86e9},
          .kernels = {{"input load", "", 0, {{0.001, 0.002, 0.004, 0.005}, 3e6}},
                      {"conv2 input gradient",
                       "4x4 tiles",
                       8e8,
                       {{0.008, 0.0125, 0.016, 0.02}, 1e9},
                       measure::WorkKind::products}},
          .steps = {{{1, 1}, 1, 2e9, {{0.02, 0.025, 0.04, 0.05}, 2.5e9}},
                    {{2, 1}, 2, 2e9, {{0.01, 0.0125, 0.02, 0.04}, 1.25e9}}},
          .settings = {},
          .scaling = std::nullopt};
}

BenchFigures several_settings() {
  const measure::Spread slow{0.01, 0.02, 0.04, 0.05}, fast{0.005, 0.01, 0.02, 0.04};
  BenchFigures several = figures();
  several.kernels.clear();
  several.steps.clear();
  several.settings = {{{1, 2}, 2, 2e9, {slow, 5e9, {1, 1, 1, 1}}},
                      {{3, 1}, 2, 2e9, {fast, 2.5e9, {1.5, 1.75, 2, 2.25}}},
                      {{2, 1, {"opencl:0", "opencl:1"}}, 0, 2e9, {fast, 2.5e9, {1.5, 1.75, 2, 2.25}}},
                      {{2, 0, {"cpu:0", "opencl:0"}}, 0, 2e9, {slow, 5e9, {0.5, 0.75, 1, 1.25}}}};
  return several;
}

const measure::ScalingFigure kScaling{
    2,
    {{"2 independent runs", {90, 95, 100, 105}}, {"1 device x 2 threads", {80, 85.5, 87.5, 90}}},
    {{"1 device x 2 threads", "2 independent runs", {0.5, 0.75, 0.875, 0.9375}}}};

TEST(BenchTable, ListsKernelsOtherPartsAndSteps) {
  EXPECT_EQ(bench_table(figures()),
            "A training step of lenet at 1x28x28, minibatches of 256, convolution direct, avx2 kernels\n"
            "FMA peak of one core: 100.0 GFLOP/s (best window; median 90.0)\n"
            "of peak: of the best window of the run. then: of the windows just before and after.\n"
            "\n"
            "kernel, one core           GFLOP/s   of peak   quartiles      then  us a batch   algorithm\n"
            "conv2 input gradient          50.0    50.0 %     40-64 %    80.0 %       16000   4x4 tiles\n"
            "\n"
            "input load                                                                4000\n"
            "\n"
            "of the time of all kernels: convolution and linear 80.0 %, all other layers 0.0 %, "
            "the rest 20.0 %\n"
            "\n"
            "whole step                 GFLOP/s   of peak   quartiles      then  s an epoch\n"
            "1 thread                      50.0    50.0 %     40-80 %    80.0 %        9.40\n"
            "2 devices x 1 thread         100.0    50.0 %     25-80 %    80.0 %        4.70\n");
}

TEST(BenchTable, ABusyMachineGetsNoSharesOfThePeak) {
  BenchFigures busy = figures();
  busy.core_peak.lower_quartile = 60e9;
  EXPECT_EQ(bench_table(busy),
            "A training step of lenet at 1x28x28, minibatches of 256, convolution direct, avx2 kernels\n"
            "FMA peak of one core: 100.0 GFLOP/s (best window; median 90.0)\n"
            "The machine was busy: the slowest quarter of the peak's windows was 40 % or more below the best "
            "(limit: 15 %).\n"
            "Shares of the peak are left out; times are those of a busy machine.\n"
            "\n"
            "kernel, one core           GFLOP/s   of peak   quartiles      then  us a batch   algorithm\n"
            "conv2 input gradient          50.0         -           -         -       16000   4x4 tiles\n"
            "\n"
            "input load                                                                4000\n"
            "\n"
            "of the time of all kernels: convolution and linear 80.0 %, all other layers 0.0 %, "
            "the rest 20.0 %\n"
            "\n"
            "whole step                 GFLOP/s   of peak   quartiles      then  s an epoch\n"
            "1 thread                      50.0         -           -         -        9.40\n"
            "2 devices x 1 thread         100.0         -           -         -        4.70\n");
}

TEST(BenchTable, EndsWithTheScalingIfItWasMeasured) {
  BenchFigures with_scaling = figures();
  with_scaling.scaling = kScaling;
  EXPECT_EQ(bench_table(with_scaling),
            bench_table(figures()) +
                "\n"
                "all cores                   steps a second       quartiles\n"
                "2 independent runs                   100.0      95.0-105.0\n"
                "1 device x 2 threads                  87.5       85.5-90.0\n"
                "\n"
                "1 device x 2 threads do 0.875 of what 2 independent runs do (quartiles 0.750-0.938)\n");
}

TEST(BenchTable, LeavesOutWhatWasNotMeasured) {
  BenchFigures step_only = figures();
  step_only.kernels.clear();
  EXPECT_EQ(bench_table(step_only).find("kernel, one core"), std::string::npos);
}

TEST(BenchTable, ComparesSeveralSettingsWithTheFirst) {
  EXPECT_EQ(bench_table(several_settings()),
            "A training step of lenet at 1x28x28, minibatches of 256, convolution direct, avx2 kernels\n"
            "FMA peak of one core: 100.0 GFLOP/s (best window; median 90.0)\n"
            "\n"
            "Whole steps, in turns. ratio: how many times as fast as the first line, turn by turn.\n"
            "\n"
            "devices         threads  GFLOP/s  s an epoch   quartiles  ratio  quartiles\n"
            "cpu:0                 2     50.0        9.40  4.70-11.75   1.00  1.00-1.00\n"
            "3xcpu                 1    100.0        4.70   2.35-9.40   2.00  1.75-2.25\n"
            "2xopencl              1    100.0        4.70   2.35-9.40   2.00  1.75-2.25\n"
            "cpu:0+opencl:0        -     50.0        9.40  4.70-11.75   1.00  0.75-1.25\n");
}

TEST(BenchJson, GivesTheLastStepAndSharesAsFractions) {
  BenchFigures with_scaling = figures();
  with_scaling.scaling = kScaling;
  EXPECT_EQ(
      bench_json(with_scaling),
      R"({"target":"avx2","model":"lenet","pictures":[1,28,28],"examples":256,"convolution":"direct","fma_peak_gflops":100.0,"fma_peak_median_gflops":90.0,"fma_peak_lower_quartile_gflops":86.0,"busy":false,)"
      R"("kernels":[{"name":"conv2 input gradient","algorithm":"4x4 tiles","gflops":50.0,"share":0.5,"share_then":0.8}],)"
      R"("other":[{"name":"input load","microseconds":4000.0}],)"
      R"("parts":{"products":0.8,"layers":0.0,"rest":0.2},)"
      R"("step":{"devices":2,"threads":1,"gflops":100.0,"share":0.5,"share_then":0.8,"seconds_per_epoch":4.7,"quartiles":[2.9375,9.4]},)"
      R"("scaling":{"cores":2,"settings":[)"
      R"({"name":"2 independent runs","steps_per_second":100.0,"quartiles":[95.0,105.0]},)"
      R"({"name":"1 device x 2 threads","steps_per_second":87.5,"quartiles":[85.5,90.0]}],)"
      R"("ratios":[{"of":"1 device x 2 threads","to":"2 independent runs","ratio":0.875,"quartiles":[0.75,0.9375]}]}})"
      "\n");
}

TEST(BenchJson, OnABusyMachineEveryShareIsNull) {
  BenchFigures busy = figures();
  busy.core_peak.lower_quartile = 60e9;
  const std::string text = bench_json(busy);
  EXPECT_NE(text.find(R"("busy":true)"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("gflops":50.0,"share":null,"share_then":null})"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("gflops":100.0,"share":null,"share_then":null,"seconds_per_epoch":4.7)"),
            std::string::npos)
      << text;
}

TEST(BenchJson, GivesSeveralSettingsInsteadOfAStep) {
  BenchFigures two = several_settings();
  two.settings = {two.settings[0], two.settings[2]};
  EXPECT_EQ(
      bench_json(two),
      R"({"target":"avx2","model":"lenet","pictures":[1,28,28],"examples":256,"convolution":"direct","fma_peak_gflops":100.0,"fma_peak_median_gflops":90.0,"fma_peak_lower_quartile_gflops":86.0,"busy":false,)"
      R"("kernels":[],"other":[],"settings":[)"
      R"({"devices":1,"threads":2,"gflops":50.0,"share":0.25,"share_then":0.2,"seconds_per_epoch":9.4,)"
      R"("quartiles":[4.7,11.75],"ratio":1.0,"ratio_quartiles":[1.0,1.0]},)"
      R"({"devices":2,"threads":1,"gflops":100.0,"share":null,"share_then":null,"seconds_per_epoch":4.7,)"
      R"("quartiles":[2.35,9.4],"names":["opencl:0","opencl:1"],"ratio":2.0,"ratio_quartiles":[1.75,2.25]}]})"
      "\n");
}

}  // namespace
}  // namespace lockstep::app
