#include "inventory/inventory.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>
#include <stdlib.h>

#include "base/strange_floats_for_test.h"
#include "device/kernels_for_test.h"
#include "device/steps_for_test.h"
#include "gpu/cuda/standin_for_test.h"
#include "gpu/kept_file.h"

namespace lockstep::inventory {
namespace {

namespace fs = std::filesystem;

// Its kernels would be compiled for a second time, as the cache is gone by then.
TEST(Inventory, ACudaDeviceThatWasAskedWhetherItMayComputeIsNotMadeAgain) {
  const gpu::cuda::Standin standin("devices=1");
  if (!standin.library()) GTEST_SKIP() << standin.problem();
  std::string problem;
  if (!gpu::cuda::open_nvrtc(problem)) GTEST_SKIP() << problem;
#ifdef LOCKSTEP_CUDA_STANDIN
  std::string name = (fs::temp_directory_path() / "inventory_test.XXXXXX").string();
  ASSERT_NE(mkdtemp(name.data()), nullptr);
  const fs::path cache = fs::path(name) / "cache";
  ASSERT_EQ(gpu::problem_with(device::kernels_for_test()), "");
  fs::create_directory_symlink(device::kernels_for_test(), cache);
  Inventory inventory(
      {.cache = cache, .cuda_library = LOCKSTEP_CUDA_STANDIN, .nvrtc_library = gpu::cuda::nvrtc_path()});
  EXPECT_EQ(inventory.refusal("cuda:0"), "");
  EXPECT_EQ(inventory.refusal("cuda:0"), "");
  fs::remove(cache);
  EXPECT_EQ(inventory.make({"cuda:0"}, {}).devices.size(), 1u);
  EXPECT_FALSE(fs::exists(cache));
  EXPECT_EQ(inventory.make({"cuda:0"}, {}).devices.size(), 1u);
  EXPECT_TRUE(fs::exists(cache));
  fs::remove_all(name);
#endif
}

// A driver's threads inherit the environment of the thread that makes them, and what a device is compared
// with is computed on the host: neither may end in a refusal, least of all in one that is remembered.
TEST(OpenClInventory, TheHostsFloatingPointEnvironmentChangesNothing) {
  const auto is_proof = [](const fs::path& path) { return path.filename().string().starts_with("probe-"); };
  {
    Inventory inventory({.cache = device::kernels_for_test()});
    if (std::ranges::none_of(inventory.listed(), &Listed::on_cores)) GTEST_SKIP() << "no OpenCL device";
    ASSERT_EQ(inventory.refusal("opencl:0"), "");  // and its kernels are compiled now
  }
  const device::StepOfCase step(device::step_case(3), 96, 1);
  for (const StrangeFloats& floats : strange_floats()) {
    SCOPED_TRACE(floats.name);
    std::string cache = (fs::temp_directory_path() / "inventory_test.XXXXXX").string();
    ASSERT_NE(mkdtemp(cache.data()), nullptr);
    for (const auto& entry : fs::directory_iterator(device::kernels_for_test())) {
      if (!is_proof(entry.path())) fs::copy(entry.path(), cache);
    }
    const InStrangeFloats strange(floats);
    Inventory inventory({.cache = cache});
    EXPECT_EQ(inventory.refusal("opencl:0"), "");
    EXPECT_TRUE(strange.unchanged());
    const MadeDevices made = inventory.make({"opencl:0"}, {.threads = 1});
    EXPECT_TRUE(strange.unchanged());
    step.expect_on(*made.devices.front(), device::Order::layer, false);
    EXPECT_TRUE(strange.unchanged());
    int proofs = 0;
    for (const auto& entry : fs::directory_iterator(cache)) {
      if (!is_proof(entry.path())) continue;
      std::ifstream file(entry.path());
      EXPECT_TRUE(std::string(std::istreambuf_iterator<char>(file), {}).ends_with("\nexact\n"));
      ++proofs;
    }
    EXPECT_EQ(proofs, 1);
    fs::remove_all(cache);
  }
}

}  // namespace
}  // namespace lockstep::inventory
