#include "bench_law_text.h"

#include <vector>

#include <gtest/gtest.h>

namespace lockstep::app {
namespace {

const std::vector<measure::LawFigure> kFigures{{.devices = 3,
                                                .bytes_by_law = 3'000'000,
                                                .bytes_unordered = 2'000'000,
                                                .by_law = {0.005, 0.00525, 0.0055, 0.006},
                                                .unordered = {0.004, 0.0045, 0.005, 0.0055},
                                                .ratio = {1, 1.05, 1.1, 1.15}}};

TEST(BenchLawTable, HasARowForEveryNumberOfDevices) {
  const std::string text = bench_law_table(kFigures);
  const std::size_t start = text.find("\n\n") + 2;
  EXPECT_EQ(
      text.substr(start, text.find("\n\n", start) + 1 - start),
      "devices    by law, ms   unordered, ms    by law, MB     unordered, MB     ratio     quartiles\n"
      "3               5.500           5.000         3.000             2.000    1.1000   1.050-1.150\n");
}

TEST(BenchLawJson, GivesBothTimesAndTheirRatio) {
  EXPECT_EQ(bench_law_json(kFigures),
            R"({"law":[{"devices":3,"by_law":{"seconds":0.0055,"quartiles":[0.00525,0.006],"bytes":3000000},)"
            R"("unordered":{"seconds":0.005,"quartiles":[0.0045,0.0055],"bytes":2000000},)"
            R"("ratio":1.1,"quartiles":[1.05,1.15]}]})"
            "\n");
}

}  // namespace
}  // namespace lockstep::app
