#include "device/inventory.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "device/gpu/cuda/standin_for_test.h"
#include "device/kernels_for_test.h"

namespace lockstep::device {
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
  fs::create_directories(kernels_for_test());
  fs::create_directory_symlink(kernels_for_test(), cache);
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

}  // namespace
}  // namespace lockstep::device
