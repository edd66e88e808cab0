// Steps with batch norm on an OpenCL device, in every style, bit for bit.
#include <array>

#include <gtest/gtest.h>

#include "device/kernels_for_test.h"
#include "gpu/gpu_device.h"
#include "gpu/norm_step_for_test.h"
#include "gpu/opencl/opencl_driver.h"

namespace lockstep::gpu::opencl {
namespace {

std::unique_ptr<device::Device> norm_device(const Style& style) {
  std::string problem;
  const std::shared_ptr<const Library> library = Library::open(problem);
  if (!library || library->devices().empty()) return nullptr;
  return make_gpu_device(make_opencl_driver(
      library, {.found = library->devices().front(), .style = style, .cache = device::kernels_for_test()}));
}

class OpenClDeviceNorm : public testing::TestWithParam<std::size_t> {};

TEST_P(OpenClDeviceNorm, StepsAreThoseOfPlainLoops) {
  const std::array<Style, 3> styles{kLaneStyle, pack_style(8), pack_style(16)};
  const std::unique_ptr<device::Device> device = norm_device(styles.at(GetParam()));
  if (!device) GTEST_SKIP() << "no OpenCL device here";
  for (std::size_t i = 0; i < kNormSteps.size(); ++i) {
    SCOPED_TRACE(testing::Message() << "case " << i);
    const NormStep step(kNormSteps[i]);
    for (const device::Order order : {device::Order::layer, device::Order::pack})
      step.expect_on(*device, order);
    step.expect_nothing_after_a_bad_verdict(*device);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, OpenClDeviceNorm, testing::Range<std::size_t>(0, 3));

}  // namespace
}  // namespace lockstep::gpu::opencl
