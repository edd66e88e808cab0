// Whole steps on the CPU device against the naive twins: every kernel row, thread count and loop order, bit
// for bit.
#include "cpu/cpu_device.h"

#include <gtest/gtest.h>

#include "cpu/kernels.h"
#include "device/steps_for_test.h"

namespace lockstep::cpu {
namespace {

class CpuDevice : public testing::TestWithParam<std::size_t> {};

TEST_P(CpuDevice, StepsEqualTheNaiveTwin) {
  const device::Case& c = device::step_case(GetParam());
  for (const int examples : c.examples) {
    const device::StepOfCase step(c, examples, static_cast<unsigned>(GetParam()) + 1);
    for (const Kernels* kernels : usable_kernels()) {
      for (const int threads : {1, 2, 3}) {
        const std::unique_ptr<device::Device> device =
            make_cpu_device({.threads = threads, .target = std::string(kernels->name)});
        for (const device::Order order : {device::Order::pack, device::Order::layer}) {
          for (const bool plain : {false, true}) {
            SCOPED_TRACE(testing::Message()
                         << c.name << ", " << examples << " examples, " << kernels->name << ", " << threads
                         << " threads, order " << static_cast<int>(order)
                         << (plain ? ", neither trimmed nor fused" : ""));
            step.expect_on(*device, order, plain);
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, CpuDevice, testing::Range<std::size_t>(0, device::step_cases()),
                         [](const auto& instance) { return "Case" + std::to_string(instance.param); });

}  // namespace
}  // namespace lockstep::cpu
