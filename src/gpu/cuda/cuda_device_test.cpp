// Whole steps on CUDA devices against the naive twins, bit for bit. The devices are stand-ins that interpret
// the PTX that NVRTC makes of the kernels, with threads in shuffled order.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "device/kernels_for_test.h"
#include "device/steps_for_test.h"
#include "gpu/cuda/cuda_driver.h"
#include "gpu/cuda/standin_for_test.h"
#include "gpu/gpu_device.h"

namespace lockstep::gpu::cuda {
namespace {

// An interpreter is slow, and slower under a sanitizer; from four packs on tiles are as large as they get.
#if defined(LOCKSTEP_SANITIZED)
constexpr int kMostExamples = 32;
#else
constexpr int kMostExamples = 72;
#endif

class CudaDevice : public testing::TestWithParam<std::size_t> {};

TEST_P(CudaDevice, StepsEqualTheNaiveTwin) {
  const Standin standin(fmt::format("devices=1,order=shuffled,seed={}", GetParam()));
  if (!standin.library()) GTEST_SKIP() << standin.problem();
  std::string problem;
  if (!open_nvrtc(problem)) GTEST_SKIP() << problem;
  const device::Case& c = device::step_case(GetParam());
  const int examples = std::min(kMostExamples, c.examples.back());
  const device::StepOfCase step(c, examples, static_cast<unsigned>(GetParam()) + 1);
  const std::unique_ptr<device::Device> device = make_gpu_device(make_cuda_driver(
      standin.library(), {.found = standin.library()->devices().at(0),
                          .nvrtc_library = nvrtc_path(),
                          .cache = device::kernels_for_test()}));  // compiling takes a second
  for (const bool plain : {false, true}) {
    SCOPED_TRACE(testing::Message() << c.name << (plain ? ", neither trimmed nor fused" : ""));
    try {
      step.expect_on(*device, device::Order::layer, plain);
    } catch (const Error& error) {
      FAIL() << error.what() << ": " << standin.last_error();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, CudaDevice, testing::Range<std::size_t>(0, device::step_cases()),
                         [](const auto& instance) { return "Case" + std::to_string(instance.param); });

}  // namespace
}  // namespace lockstep::gpu::cuda
