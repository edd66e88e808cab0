#include "measure/turns.h"

#include <chrono>
#include <string>
#include <thread>

#include <gtest/gtest.h>

namespace lockstep::measure {
namespace {

TEST(Turns, AlternateAndWarmUpOnceATurn) {
  FmaPeak peak(cpu::choose_kernels(""));
  std::string calls;
  const std::vector<std::function<void()>> runs{[&] { calls += 'a'; }, [&] { calls += 'b'; }};
  const std::vector<Timing> timings = take_turns({.seconds = 0, .window = 0, .fewest_rounds = 3}, peak, runs);
  EXPECT_EQ(calls, "aabbaabbaabb");
  ASSERT_EQ(timings.size(), 2U);
  EXPECT_GE(timings[0].seconds.upper_quartile, timings[0].seconds.median);
  EXPECT_GT(timings[0].peak_flops, 0);
}

TEST(Turns, CompareEachWithTheFirst) {
  FmaPeak peak(cpu::choose_kernels(""));
  const std::function<void()> nap = [] { std::this_thread::sleep_for(std::chrono::microseconds(1)); };
  const std::vector<std::function<void()>> runs{nap, nap};
  const std::vector<Timing> one = take_turns({.seconds = 0, .window = 0, .fewest_rounds = 1}, peak, runs);
  EXPECT_EQ(one[0].against_first, (Spread{1, 1, 1, 1}));
  EXPECT_EQ(one[1].against_first.median, one[0].seconds.median / one[1].seconds.median);
}

TEST(Turns, WithoutThePeakGiveEverySample) {
  std::string calls;
  const std::vector<std::function<void()>> runs{[&] { calls += 'a'; }, [&] { calls += 'b'; }};
  const std::vector<std::vector<double>> samples =
      sample_in_turns({.seconds = 0, .window = 0, .fewest_rounds = 3}, runs);
  EXPECT_EQ(calls, "aabbaabbaabb");
  ASSERT_EQ(samples.size(), 2U);
  EXPECT_EQ(samples[0].size(), 3U);
  EXPECT_EQ(samples[1].size(), 3U);
}

TEST(Turns, SampleThePeak) {
  FmaPeak peak(cpu::choose_kernels(""));
  const std::vector<std::function<void()>> runs{[] {}};
  take_turns({.seconds = 0, .window = 0, .fewest_rounds = 1}, peak, runs);
  EXPECT_GT(peak.flops_per_second(), 0);
}

TEST(Turns, GoOnUntilTheTimeIsOver) {
  FmaPeak peak(cpu::choose_kernels(""));
  int calls = 0;
  const std::vector<std::function<void()>> runs{[&] { ++calls; }};
  take_turns({.seconds = 0.05, .window = 0, .fewest_rounds = 1}, peak, runs);
  EXPECT_GT(calls, 2) << "a round is one millisecond of peak and next to nothing of the run";
}

}  // namespace
}  // namespace lockstep::measure
