#include "device/cpu/probe.h"

#include <cfenv>

#include <gtest/gtest.h>

#include "base/error.h"
#include "device/cpu/cpu_device.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace lockstep::device::cpu {
namespace {

TEST(Probe, EveryRowOfThisProcessorPasses) {
  for (const Kernels* row : usable_kernels()) EXPECT_NO_THROW(probe_arithmetic(*row, "cpu:0"));
}

TEST(Probe, RefusesKernelsThatDoNotFuse) {
  Kernels row = choose_kernels("");
  row.sgd = [](float* weights, const float* gradient, std::size_t count, float rate) {
    for (std::size_t i = 0; i < count; ++i) weights[i] = weights[i] - rate * gradient[i];
  };
  try {
    probe_arithmetic(row, "cpu:0");
    FAIL() << "a product that was rounded went unseen";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::device);
    EXPECT_STREQ(error.what(),
                 "cpu:0: a fused multiply-add gave 0x00000000, expected 0xa8800000; the same bits cannot "
                 "be promised on it");
  }
}

#if defined(__x86_64__)
TEST(Probe, RefusesAThreadThatFlushesDenormals) {
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8040);  // flush to zero, denormals are zero
  EXPECT_THROW(make_cpu_device({.threads = 1}), Error);
  _mm_setcsr(before);
  EXPECT_NO_THROW(make_cpu_device({.threads = 1}));
}
#endif

TEST(Probe, RefusesAnotherRoundingMode) {
  ASSERT_EQ(std::fesetround(FE_UPWARD), 0);
  EXPECT_THROW(make_cpu_device({.threads = 1}), Error);
  ASSERT_EQ(std::fesetround(FE_TONEAREST), 0);
}

}  // namespace
}  // namespace lockstep::device::cpu
