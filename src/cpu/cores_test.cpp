#include "cpu/cores.h"

#include <thread>

#include <gtest/gtest.h>
#include <sched.h>

namespace lockstep::cpu {
namespace {

int cores_of_this_thread() {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
  return CPU_COUNT(&set);
}

TEST(Cores, EveryCoreCanBeBoundTo) {
  const Cores cores;
  ASSERT_GE(cores.count(), usable_cores());
  std::thread([&] {
    for (int core = 0; core < cores.count(); ++core) {
      cores.bind(core);
      EXPECT_EQ(cores_of_this_thread(), 1);
    }
  }).join();
}

TEST(Cores, ABindingForNowEnds) {
  const Cores cores;
  const int before = cores_of_this_thread();
  {
    const auto place = cores.bind_for_now(0);
    EXPECT_EQ(cores_of_this_thread(), 1);
  }
  EXPECT_EQ(cores_of_this_thread(), before);
}

}  // namespace
}  // namespace lockstep::cpu
