#include "bench_exchange_text.h"

#include <vector>

#include <gtest/gtest.h>

namespace lockstep::app {
namespace {

std::vector<measure::ExchangeFigures> figures() {
  return {{.bytes = 4'000'000,
           .devices = 2,
           .cores = 1,
           .kinds = {{.kind = "sharded",
                      .work = {{4'000'000, 2'000'000, 4'000'000, 2'000'000},
                               {4'000'000, 2'000'000, 4'000'000, 2'000'000}},
                      .seconds = {0.001, 0.0015, 0.002, 0.0025},
                      .against_best = {1, 1, 1, 1}},
                     {.kind = "star",
                      .work = {{4'000'000, 4'000'000, 8'000'000, 0}, {4'000'000, 0, 0, 4'000'000}},
                      .seconds = {0.003, 0.0035, 0.004, 0.0045},
                      .against_best = {1.5, 1.75, 2, 2.25},
                      .formula = 2,
                      .formula_here = 1}},
           .copy_one = {0.001, 0.001, 0.001, 0.002},
           .copy_all = {0.001, 0.0015, 0.002, 0.002}}};
}

TEST(BenchExchangeTable, HasARowForEveryKindAndCopy) {
  const std::string text = bench_exchange_table(figures());
  EXPECT_EQ(
      text.substr(text.find("\n\n") + 2),
      "4 MB, 2 devices            ms           quartiles   sent, MB   received     in all     GB/s of "
      "memcpy\n"
      "sharded                 2.000         1.500-2.500       4.00       4.00       8.00     4.00      "
      "1.00\n"
      "star                    4.000         3.500-4.500       4.00       4.00       8.00     2.00      "
      "0.50\n"
      "memcpy, 1 thread        1.000         1.000-2.000                             4.00     4.00      "
      "1.00\n"
      "memcpy, 2 threads       2.000         1.500-2.000                             8.00     4.00      "
      "1.00\n"
      "star / sharded: 2.00 (quartiles 1.75-2.25); by formula 2.00 with a core a device, 1.00 with 1\n");
}

TEST(BenchExchangeJson, GivesBytesByDevice) {
  EXPECT_EQ(bench_exchange_json(figures()),
            R"({"exchanges":[{"bytes":4000000,"devices":2,"cores":1,"kinds":[)"
            R"({"name":"sharded","seconds":0.002,"quartiles":[0.0015,0.0025],"gigabytes_per_second":4.0,)"
            R"("bytes":8000000,"sent":[4000000,4000000],"received":[4000000,4000000],)"
            R"("ratio":1.0,"ratio_quartiles":[1.0,1.0],"formula":1.0,"formula_here":1.0},)"
            R"({"name":"star","seconds":0.004,"quartiles":[0.0035,0.0045],"gigabytes_per_second":2.0,)"
            R"("bytes":8000000,"sent":[4000000,4000000],"received":[4000000,4000000],)"
            R"("ratio":2.0,"ratio_quartiles":[1.75,2.25],"formula":2.0,"formula_here":1.0}],)"
            R"("memcpy_one":{"seconds":0.001,"quartiles":[0.001,0.002],"gigabytes_per_second":4.0},)"
            R"("memcpy_all":{"seconds":0.002,"quartiles":[0.0015,0.002],"gigabytes_per_second":4.0}}]})"
            "\n");
}

}  // namespace
}  // namespace lockstep::app
