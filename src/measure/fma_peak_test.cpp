#include "measure/fma_peak.h"

#include <gtest/gtest.h>

namespace lockstep::measure {
namespace {

TEST(FmaPeak, IsTheBestWindowOfAll) {
  FmaPeak peak(device::cpu::choose_kernels(""));
  EXPECT_EQ(peak.flops_per_second(), 0);
  peak.add_window(100, 2);
  EXPECT_EQ(peak.flops_per_second(), 100);
  peak.add_window(300, 3);
  EXPECT_EQ(peak.flops_per_second(), 200);
  peak.add_window(100, 4);
  EXPECT_EQ(peak.flops_per_second(), 200);
  EXPECT_EQ(peak.median_flops_per_second(), 100);
}

TEST(FmaPeak, EveryRowOfKernelsHasOne) {
  for (const device::cpu::Kernels* kernels : device::cpu::usable_kernels()) {
    FmaPeak peak(*kernels);
    peak.sample();
    EXPECT_GT(peak.flops_per_second(), 0) << kernels->name;
  }
}

}  // namespace
}  // namespace lockstep::measure
