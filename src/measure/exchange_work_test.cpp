#include "measure/exchange_work.h"

#include <gtest/gtest.h>

#include "program/checked_for_test.h"

namespace lockstep::measure {
namespace {

constexpr std::size_t kElements = 3 * 4 * 1024, kBytes = kElements * sizeof(float);

std::vector<DeviceWork> work_of_kind(std::string_view kind, int devices) {
  program::Program step;
  step.purpose = program::Purpose::evaluation;
  step.buffers = {{"partial", program::Role::partial, kElements},
                  {"sum", program::Role::gradient, kElements}};
  step.segments = {{"packs", program::Segment::Over::packs, {}}};
  step.sums = {{.partial = 0, .gradient = 1}};
  return work_of(program::checked_data_parallel(
      step, {.ranks = devices, .exchange = &program::exchange::kind_named(kind)}, 16));
}

// The formulas that sharded.cpp and star.cpp give.
TEST(ExchangeWork, ShardedMovesTheSameOnEveryDevice) {
  const std::vector<DeviceWork> work = work_of_kind("sharded", 4);
  ASSERT_EQ(work.size(), 4U);
  for (const DeviceWork& device : work) {
    EXPECT_EQ(device.sent, 2 * kBytes * 3 / 4);
    EXPECT_EQ(device.collected, kBytes * 3 / 4);
    EXPECT_EQ(device.joined, kBytes);
    EXPECT_EQ(device.returned, kBytes * 3 / 4);
  }
  EXPECT_EQ(bytes_in_all(work), 6 * kBytes);
}

TEST(ExchangeWork, ThreeDevicesHoldSevenSubtreesOfSixteenPacks) {
  const std::vector<DeviceWork> work = work_of_kind("sharded", 3);
  ASSERT_EQ(work.size(), 3U);
  const std::vector<std::size_t> held{2, 3, 2};
  for (std::size_t d = 0; d < 3; ++d) {
    EXPECT_EQ(work[d].sent, (held[d] + 1) * kBytes * 2 / 3);
    EXPECT_EQ(work[d].collected, (7 - held[d]) * kBytes / 3);
    EXPECT_EQ(work[d].joined, 7 * kBytes / 3);
  }
}

TEST(ExchangeWork, AllBytesOfAStarPassThroughTheFirstDevice) {
  const std::vector<DeviceWork> work = work_of_kind("star", 4);
  EXPECT_EQ(work[0].collected, 3 * kBytes);
  EXPECT_EQ(work[0].joined, 4 * kBytes);
  EXPECT_EQ(work[0].sent, 3 * kBytes);
  EXPECT_EQ(work[0].returned, 0U);
  EXPECT_EQ(work[1].sent, kBytes);
  EXPECT_EQ(work[1].returned, kBytes);
  EXPECT_EQ(bytes_in_all(work), 6 * kBytes) << "as many as sharded, only not side by side";
}

TEST(ExchangeWork, ARoundLastsAsLongAsItsBusiestDeviceOrItsCores) {
  const auto path = [](std::string_view kind, int devices, int cores) {
    return longest_path(work_of_kind(kind, devices), cores) / static_cast<double>(kBytes);
  };
  EXPECT_EQ(path("sharded", 4, 4), 0.75 + 1 + 0.75);
  EXPECT_EQ(path("star", 4, 4), 3 + 4 + 1);
  EXPECT_EQ(path("sharded", 4, 2), 1.5 + 2 + 1.5);
  EXPECT_EQ(path("star", 4, 2), 3 + 4 + 1.5);
  EXPECT_EQ(path("star", 2, 2) / path("sharded", 2, 2), 2);
}

}  // namespace
}  // namespace lockstep::measure
