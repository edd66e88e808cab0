// Exact devices pass the probe; one that flushes denormals and one that contracts are refused, with an
// example.
#include "device/gpu/probe.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/refusal_for_test.h"
#include "device/gpu/bare_driver_for_test.h"
#include "device/gpu/cuda/cuda_driver.h"
#include "device/gpu/cuda/standin_for_test.h"
#include "device/gpu/opencl/opencl_driver.h"
#include "device/gpu/proof.h"
#include "device/kernels_for_test.h"

namespace lockstep::device::gpu {
namespace {

// What expect_exact() says of a stand-in for a CUDA device.
class CudaProbe : public testing::Test {
 protected:
  void SetUp() override {
    std::string problem;
    if (!cuda::open_nvrtc(problem)) GTEST_SKIP() << problem;
    if (const cuda::Standin standin("devices=1"); !standin.library()) GTEST_SKIP() << standin.problem();
  }
  static std::unique_ptr<Driver> make(const std::string& machine) {
    const cuda::Standin standin(machine);
    return cuda::make_cuda_driver(standin.library(), {.found = standin.library()->devices().at(0),
                                                      .nvrtc_library = cuda::nvrtc_path(),
                                                      .cache = kernels_for_test()});
  }
  static std::string refusal(const std::string& machine) {
    const std::unique_ptr<Driver> driver = make(machine);
    return refusal_of(Fault::device, [&] { expect_exact(*driver, 1000); });
  }
};

TEST_F(CudaProbe, AnExactDevicePasses) { EXPECT_NO_THROW(expect_exact(*make("devices=1"), 1000)); }

TEST_F(CudaProbe, ADeviceThatFlushesDenormalsIsRefused) {
  const std::string said = refusal("devices=1,ftz=1");
  EXPECT_NE(said.find("cuda:0"), std::string::npos) << said;
  EXPECT_NE(said.find("rounds differently: a + b with a = "), std::string::npos) << said;
  EXPECT_NE(said.find("gave 0x"), std::string::npos) << said;
  EXPECT_NE(said.find("expected 0x"), std::string::npos) << said;
}

TEST_F(CudaProbe, ADeviceThatContractsIsRefused) {
  const std::string said = refusal("devices=1,contract=1");
  EXPECT_NE(said.find("in two roundings with a = "), std::string::npos) << said;
}

// The device copies from memory that goes when the probe fails, so it begins when there is room for all.
TEST(Probe, CopiesNothingBeforeEverythingIsAllocated) {
  for (std::size_t most = 0; most < 4; ++most) {
    BareDriver driver;
    driver.most_allocations = most;
    EXPECT_THROW(probe(driver, 0), Error);
    EXPECT_EQ(driver.allocations.size(), most);
    EXPECT_EQ(driver.writes, 0);
  }
}

// A proof is of a device, its driver and the kernels; a file that says something else proves nothing.
TEST_F(CudaProbe, WhatWasProvenIsRemembered) {
  const std::filesystem::path directory = testing::TempDir() + "lockstep-proofs";
  std::filesystem::remove_all(directory);
  const std::unique_ptr<Driver> driver = make("devices=1");
  const Proofs proofs(directory);
  EXPECT_FALSE(proofs.known(*driver));
  proofs.remember(*driver);
  EXPECT_TRUE(proofs.known(*driver));
  EXPECT_FALSE(Proofs({}).known(*driver));
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    std::filesystem::resize_file(entry.path(), 3);
  EXPECT_FALSE(proofs.known(*driver));
}

TEST(OpenClProbe, EveryDeviceHerePassesInBothLaneStyles) {
  std::string problem;
  const std::shared_ptr<const opencl::Library> library = opencl::Library::open(problem);
  if (!library || library->devices().empty()) GTEST_SKIP() << "no OpenCL device here";
  for (const opencl::Found& found : library->devices()) {
    for (const Style& style : {kLaneStyle, pack_style(found.vector_floats)}) {
      const std::unique_ptr<Driver> driver =
          opencl::make_opencl_driver(library, {.found = found, .style = style});
      EXPECT_NO_THROW(expect_exact(*driver, 100'000));
    }
  }
}

// A kernel's compiler that is told to break the law: the probe decides, not what the device says it can.
TEST(OpenClProbe, FastMathIsRefused) {
  std::string problem;
  const std::shared_ptr<const opencl::Library> library = opencl::Library::open(problem);
  if (!library || library->devices().empty()) GTEST_SKIP() << "no OpenCL device here";
  const opencl::Found found = library->devices().front();
  const std::unique_ptr<Driver> driver =
      opencl::make_opencl_driver(library, {.found = found,
                                           .style = pack_style(found.vector_floats),
                                           .more_build_options = "-cl-fast-relaxed-math"});
  EXPECT_THROW(expect_exact(*driver, kUsualCases), Error);
}

}  // namespace
}  // namespace lockstep::device::gpu
