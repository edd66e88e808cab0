#include "cpu/probe.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/strange_floats_for_test.h"
#include "cpu/cpu_device.h"
#include "device/steps_for_test.h"

namespace lockstep::cpu {
namespace {

TEST(Probe, EveryRowOfThisProcessorPasses) {
  for (const Kernels* row : usable_kernels()) EXPECT_NO_THROW(probe_arithmetic(*row, "cpu:0"));
}

TEST(Probe, RefusesKernelsThatDoNotFuse) {
  Kernels row = choose_kernels("");
  row.sgd = [](const UpdateOperands& o, const arithmetic::UpdateScalars& s) {
    for (std::size_t i = 0; i < o.count; ++i) o.weights[i] = o.weights[i] - s.learning_rate * o.gradient[i];
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

class ProbeInStrangeFloats : public testing::TestWithParam<StrangeFloats> {};

TEST_P(ProbeInStrangeFloats, RefusesAThreadThatBreaksTheLaw) {
  for (const Kernels* row : usable_kernels()) {
    const InStrangeFloats strange(GetParam());
    EXPECT_THROW(probe_arithmetic(*row, "cpu:0"), Error) << row->name;
  }
}

// A device sets its threads right, whatever the host program has set, and whenever.
TEST_P(ProbeInStrangeFloats, ADeviceComputesTheLawsBits) {
  const device::StepOfCase step(device::step_case(3), 96, 1);
  std::vector<std::unique_ptr<device::Device>> devices;
  devices.push_back(make_cpu_device({.threads = 2}));
  const InStrangeFloats strange(GetParam());
  devices.push_back(make_cpu_device({.threads = 2}));
  for (const std::unique_ptr<device::Device>& device : devices) {
    for (const device::Order order : {device::Order::pack, device::Order::layer})
      step.expect_on(*device, order, false);
  }
  EXPECT_TRUE(strange.unchanged());
}

INSTANTIATE_TEST_SUITE_P(All, ProbeInStrangeFloats, testing::ValuesIn(strange_floats()));

}  // namespace
}  // namespace lockstep::cpu
