// Steps with batch norm on a CUDA device, a stand-in that interprets the kernels' PTX, bit for bit.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "device/kernels_for_test.h"
#include "gpu/cuda/cuda_driver.h"
#include "gpu/cuda/standin_for_test.h"
#include "gpu/gpu_device.h"
#include "gpu/norm_step_for_test.h"

namespace lockstep::gpu::cuda {
namespace {

class CudaDeviceNorm : public testing::TestWithParam<std::size_t> {};

TEST_P(CudaDeviceNorm, StepsAreThoseOfPlainLoops) {
  const Standin standin(fmt::format("devices=1,order=shuffled,seed={}", GetParam()));
  if (!standin.library()) GTEST_SKIP() << standin.problem();
  std::string problem;
  if (!open_nvrtc(problem)) GTEST_SKIP() << problem;
  const std::unique_ptr<device::Device> device =
      make_gpu_device(make_cuda_driver(standin.library(), {.found = standin.library()->devices().at(0),
                                                           .nvrtc_library = nvrtc_path(),
                                                           .cache = device::kernels_for_test()}));
  const NormStep step(kNormSteps.at(GetParam()));
  try {
    step.expect_on(*device, device::Order::layer);
    step.expect_nothing_after_a_bad_verdict(*device);
  } catch (const Error& error) {
    FAIL() << error.what() << ": " << standin.last_error();
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, CudaDeviceNorm, testing::Range<std::size_t>(0, kNormSteps.size()));

}  // namespace
}  // namespace lockstep::gpu::cuda
