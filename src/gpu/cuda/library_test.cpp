#include "gpu/cuda/library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "gpu/cuda/standin_for_test.h"

namespace lockstep::gpu::cuda {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(CudaLibrary, SaysWhenThereIsNoDriver) {
  std::string problem;
  EXPECT_EQ(Library::open("/nowhere/libcuda.so.1", problem), nullptr);
  EXPECT_THAT(problem,
              AllOf(StartsWith("no CUDA driver found (/nowhere/libcuda.so.1: "), Not(HasSubstr("\n"))));
}

TEST(CudaLibrary, NamesWhatAForeignLibraryLacks) {
  std::string problem;
  EXPECT_EQ(Library::open("libc.so.6", problem), nullptr);
  EXPECT_EQ(problem, "libc.so.6 has no function cuGetErrorName; a newer CUDA driver is needed");
}

TEST(CudaLibrary, SaysWhenTheDriverDoesNotStart) {
  const Standin standin("devices=0");
  if (standin.problem().starts_with("built without")) GTEST_SKIP() << standin.problem();
  EXPECT_EQ(standin.library(), nullptr);
  EXPECT_EQ(standin.problem(), "the CUDA driver does not start: CUDA_ERROR_NO_DEVICE");
}

TEST(CudaLibrary, ListsTheDevices) {
  const Standin standin("devices=3,memory=1073741824,capability=86");
  if (!standin.library()) GTEST_SKIP() << standin.problem();
  const std::vector<Found> found = standin.library()->devices();
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[2].facts.name, "cuda:2");
  EXPECT_EQ(found[2].capability, 86);
  EXPECT_EQ(found[2].facts.memory, 1073741824u);
  EXPECT_EQ(found[2].facts.largest_allocation, 1073741824u);
  EXPECT_GT(found[2].facts.units, 0);
  EXPECT_TRUE(found[2].facts.gpu);
  EXPECT_FALSE(found[2].facts.model.empty());
  EXPECT_THAT(found[2].facts.driver, StartsWith("CUDA " + version_text(standin.library()->version())));
}

TEST(CudaLibrary, NamesErrors) {
  const Standin standin("devices=1");
  if (!standin.library()) GTEST_SKIP() << standin.problem();
  EXPECT_EQ(standin.library()->error_name(2), "CUDA_ERROR_OUT_OF_MEMORY");
  EXPECT_EQ(standin.library()->error_name(123456), "error 123456, which the driver does not name");
  EXPECT_NO_THROW(standin.library()->expect(kSuccess, "cuda:0", "cuMemAlloc"));
  EXPECT_THROW(standin.library()->expect(2, "cuda:0", "cuMemAlloc"), Error);
}

TEST(CudaLibrary, WritesVersionsAsPeopleDo) {
  EXPECT_EQ(version_text(13000), "13.0");
  EXPECT_EQ(version_text(12080), "12.8");
}

}  // namespace
}  // namespace lockstep::gpu::cuda
