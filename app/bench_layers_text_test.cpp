#include "bench_layers_text.h"

#include <gtest/gtest.h>

namespace lockstep::app {
namespace {

const BenchLayersFigures kFigures{
    "avx2",
    {100e9, 90e9, 86e9},
    {{"64 to 64",
      "forward",
      "4x4 tiles",
      4,
      6e9,
      3e9,
      {{0.03, 0.035, 0.04, 0.05}, 4e9},
      {0.125, 0.75, 0.125}},
     {"64 to 64", "forward", "direct", 1, 1.5e9, 1.5e9, {{0.015, 0.0155, 0.016, 0.02}, 1.6e9}, {}},
     {"8 to 8", "weight gradient", "direct", 1, 1e9, 1e9, {{0.03, 0.035, 0.04, 0.05}, 4e9}, {}}}};

TEST(BenchLayersTable, HasABlockForEachLayer) {
  const std::string text = bench_layers_table(kFigures);
  EXPECT_EQ(
      text.substr(0, text.find('\n') + 1),
      "Convolution layers by themselves, one core, packs of 16 examples, avx2 kernels; fast and direct in "
      "turns\n");
  const std::string heading =
      "pass             algorithm      share  us a pack    quartiles     transform in         products   "
      "transform back  of peak  bound by\n";
  EXPECT_EQ(
      text.substr(text.find("\n\n") + 1),
      "\n64 to 64\n" + heading +
          "forward          4x4 tiles    150.0 %    10000.0   8750-12500    1250.0 (12 %)    7500.0 (75 %)  "
          "  1250.0 (12 %)  100.0 %  cache\n"
          "forward          direct        93.8 %    16000.0  15500-20000                   16000.0 (100 %) "
          "                   93.8 %  multiply-adds\n"
          "\n8 to 8\n" +
          heading +
          "weight gradient  direct        25.0 %    40000.0  35000-50000                   40000.0 (100 %) "
          "                   25.0 %  cache\n");
}

TEST(BenchLayersTable, ABusyMachineGetsNoSharesOfThePeak) {
  BenchLayersFigures busy = kFigures;
  busy.core_peak.lower_quartile = 60e9;
  const std::string text = bench_layers_table(busy), json = bench_layers_json(busy);
  EXPECT_NE(text.find("The machine was busy"), std::string::npos) << text;
  EXPECT_NE(text.find("weight gradient  direct             -    40000.0  35000-50000                   "
                      "40000.0 (100 %)                         -  -\n"),
            std::string::npos)
      << text;
  EXPECT_NE(json.find(R"("product_share":null,"bound_by":null)"), std::string::npos) << json;
}

TEST(BenchLayersJson, GivesTimesOfAPackAndFractions) {
  BenchLayersFigures first = kFigures;
  first.layers.resize(1);
  EXPECT_EQ(
      bench_layers_json(first),
      R"({"target":"avx2","fma_peak_gflops":100.0,"fma_peak_median_gflops":90.0,"fma_peak_lower_quartile_gflops":86.0,"busy":false,"layers":[)"
      R"({"layer":"64 to 64","pass":"forward","algorithm":"4x4 tiles","packs":4,"share":1.5,)"
      R"("seconds":0.01,"quartiles":[0.00875,0.0125],"transform_in":0.125,"products":0.75,)"
      R"("transform_back":0.125,"product_share":1.0,"bound_by":"cache"}]})"
      "\n");
}

}  // namespace
}  // namespace lockstep::app
