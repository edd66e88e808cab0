#include "measure/core_pinning.h"

#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace lockstep::measure {
namespace {

TEST(CorePinning, APinnedThreadHasOneCore) {
  const std::vector<int> before = usable_core_numbers();
  ASSERT_FALSE(before.empty());
  std::vector<int> inside;
  std::thread([&] {
    pin_this_thread(before.back());
    inside = usable_core_numbers();
  }).join();
  EXPECT_THAT(inside, testing::ElementsAre(before.back()));
  EXPECT_EQ(usable_core_numbers(), before) << "other threads keep their cores";
}

TEST(CorePinning, ACoreThatIsNotThereIsRefused) { EXPECT_THROW(pin_this_thread(1023), Error); }

}  // namespace
}  // namespace lockstep::measure
