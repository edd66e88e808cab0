#include "sweep_run_name.h"

#include <gtest/gtest.h>

namespace lockstep::app {
namespace {

TEST(SweepRunNames, SayTheSettings) {
  SweepRunNames names;
  EXPECT_EQ(names.next(0.2, 256, {"cpu:0"}), "lr-0.2_batch-256_1xcpu");
  EXPECT_EQ(names.next(0.2, 512, {"cpu:0", "cpu:1"}), "lr-0.2_batch-512_2xcpu");
  EXPECT_EQ(names.next(1e-5, 32, {"cpu:1", "opencl:0"}), "lr-1e-05_batch-32_cpu1+opencl0");
  EXPECT_EQ(names.next(1, 32, {"opencl:1"}), "lr-1_batch-32_opencl1");
}

TEST(SweepRunNames, EqualSettingsGetNumbers) {
  SweepRunNames names;
  EXPECT_EQ(names.next(0.2, 256, {"cpu:0"}), "lr-0.2_batch-256_1xcpu");
  EXPECT_EQ(names.next(0.2, 256, {"cpu:0"}), "lr-0.2_batch-256_1xcpu_2");
  EXPECT_EQ(names.next(0.2, 256, {"cpu:0"}), "lr-0.2_batch-256_1xcpu_3");
}

}  // namespace
}  // namespace lockstep::app
