#include "base/deadline.h"

#include <future>

#include <gtest/gtest.h>

namespace lockstep {
namespace {

using namespace std::chrono_literals;

TEST(Deadline, IsCalledWhenItPasses) {
  std::promise<void> late;
  const Deadline deadline(1ms, [&] { late.set_value(); });
  EXPECT_EQ(late.get_future().wait_for(60s), std::future_status::ready);
}

TEST(Deadline, IsNotCalledWhenItIsMet) {
  for (int i = 0; i < 100; ++i) Deadline(1h, [] { ADD_FAILURE(); });
}

}  // namespace
}  // namespace lockstep
