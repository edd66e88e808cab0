#include "bench_compile_text.h"

#include <vector>

#include <gtest/gtest.h>

namespace lockstep::app {
namespace {

const std::vector<measure::CompileFigure> kFigures{
    {.devices = 16, .layers = 20, .instructions = 9876, .seconds = {0.0275, 0.028, 0.03, 0.035}}};

TEST(BenchCompileTable, HasARowForEveryNumberOfDevices) {
  const std::string text = bench_compile_table(kFigures);
  const std::size_t start = text.find("\n\n") + 2;
  EXPECT_EQ(text.substr(start, text.find("\n\n", start) + 1 - start),
            "devices    layers   instructions        ms       quartiles\n"
            "16             20           9876     30.00     28.00-35.00\n");
}

TEST(BenchCompileJson, GivesSecondsAndQuartiles) {
  EXPECT_EQ(bench_compile_json(kFigures),
            R"({"compile":[{"devices":16,"layers":20,"instructions":9876,"seconds":0.03,)"
            R"("quartiles":[0.028,0.035]}]})"
            "\n");
}

}  // namespace
}  // namespace lockstep::app
