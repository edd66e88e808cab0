// Exact devices pass the probe; one that flushes denormals and one that contracts are refused, with an
// example.
#include "gpu/probe.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/strange_floats_for_test.h"
#include "device/kernels_for_test.h"
#include "gpu/bare_driver_for_test.h"
#include "gpu/cuda/cuda_driver.h"
#include "gpu/cuda/standin_for_test.h"
#include "gpu/opencl/opencl_driver.h"
#include "gpu/proof.h"

namespace lockstep::gpu {
namespace {

// What inexactness() says of a stand-in for a CUDA device.
class CudaProbe : public testing::Test {
 protected:
  void SetUp() override {
    std::string problem;
    if (!cuda::open_nvrtc(problem)) GTEST_SKIP() << problem;
    if (const cuda::Standin standin("devices=1"); !standin.library()) GTEST_SKIP() << standin.problem();
  }
  static std::unique_ptr<Driver> make(const std::string& machine, std::size_t device = 0) {
    const cuda::Standin standin(machine);
    return cuda::make_cuda_driver(standin.library(), {.found = standin.library()->devices().at(device),
                                                      .nvrtc_library = cuda::nvrtc_path(),
                                                      .cache = device::kernels_for_test()});
  }
  static std::string refusal(const std::string& machine) { return inexactness(*make(machine), 1000); }
};

TEST_F(CudaProbe, AnExactDevicePasses) { EXPECT_EQ(refusal("devices=1"), ""); }

TEST_F(CudaProbe, ADeviceThatFlushesDenormalsIsRefused) {
  const std::string said = refusal("devices=1,ftz=1");
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
  std::string directory = testing::TempDir() + "lockstep-proofs-XXXXXX";
  ASSERT_NE(mkdtemp(directory.data()), nullptr);
  const std::unique_ptr<Driver> driver = make("devices=1");
  const Proofs proofs(directory);
  EXPECT_EQ(proofs.refusal(*driver), std::nullopt);
  proofs.remember(*driver, "it is wrong");
  EXPECT_EQ(proofs.refusal(*driver), "it is wrong");
  proofs.remember(*driver, "");
  EXPECT_EQ(proofs.refusal(*driver), "");
  EXPECT_EQ(Proofs({}).refusal(*driver), std::nullopt);
  EXPECT_EQ(proofs.refusal(*make("devices=2", 1)), std::nullopt);  // another of the same model
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    const std::uintmax_t size = std::filesystem::file_size(entry.path());
    for (const std::uintmax_t left : {size - 1, std::uintmax_t{3}}) {
      std::filesystem::resize_file(entry.path(), left);
      EXPECT_EQ(proofs.refusal(*driver), std::nullopt);
    }
  }
  proofs.remember(*driver, "");
  ASSERT_EQ(chmod(directory.c_str(), 0777), 0);
  EXPECT_EQ(proofs.refusal(*driver), std::nullopt) << "anybody may have written it";
  std::filesystem::remove_all(directory);
}

// What the host computes as expected is the law's, whatever a driver or the host program has set.
TEST_F(CudaProbe, TheHostsFloatingPointEnvironmentIsNotTheDevices) {
  const std::unique_ptr<Driver> driver = make("devices=1");
  for (const StrangeFloats& floats : strange_floats()) {
    const InStrangeFloats strange(floats);
    EXPECT_EQ(inexactness(*driver, 1000), "") << floats;
    EXPECT_TRUE(strange.unchanged()) << floats;
  }
}

class OpenClProbe : public testing::Test {
 protected:
  void SetUp() override {
    std::string problem;
    library_ = opencl::Library::open(problem);
    if (!library_ || library_->devices().empty()) GTEST_SKIP() << "no OpenCL device here";
  }

  // What the probe says of the first device.
  std::string with_option(const char* option, const Style& style) const {
    const std::unique_ptr<Driver> driver = opencl::make_opencl_driver(
        library_, {.found = library_->devices().front(), .style = style, .more_build_options = option});
    return inexactness(*driver, kUsualCases);
  }

  std::shared_ptr<const opencl::Library> library_;
};

TEST_F(OpenClProbe, EveryDeviceHerePassesInEveryStyle) {
  for (const opencl::Found& found : library_->devices()) {
    for (const Style& style : {kLaneStyle, pack_style(8), pack_style(16)}) {
      const std::unique_ptr<Driver> driver =
          opencl::make_opencl_driver(library_, {.found = found, .style = style});
      EXPECT_EQ(inexactness(*driver, 100'000), "");
    }
  }
}

// A kernel's compiler that is told to break the law: the probe decides, not what the device says it can.
TEST_F(OpenClProbe, FastMathIsRefused) {
  EXPECT_NE(with_option("-cl-fast-relaxed-math", pack_style(16)), "");
  EXPECT_NE(with_option("-cl-unsafe-math-optimizations", kLaneStyle), "");
}

// Intel's compiler is exact all the same.
TEST_F(OpenClProbe, FiniteMathIsRefused) {
  EXPECT_NE(with_option("-cl-finite-math-only", pack_style(16)), "");
}

}  // namespace
}  // namespace lockstep::gpu
