#include "gpu/kernel_cache.h"

#include <fstream>
#include <iterator>
#include <vector>

#include <gtest/gtest.h>
#include <stdlib.h>

namespace lockstep::gpu {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kInputs{"source", "options"};
const KeptKernels kKernels{"a compiler 1.0", ".version 9.0\n.target sm_90\n"};

class KernelCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "kernel_cache_test.XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    directory_ = name;
  }
  void TearDown() override { fs::remove_all(directory_); }

  fs::path directory_;
};

TEST_F(KernelCacheTest, GivesBackWhatItKeeps) {
  const KernelCache cache(directory_ / "made" / "when needed");
  EXPECT_EQ(cache.load(kInputs), std::nullopt);
  cache.keep(kInputs, kKernels);
  EXPECT_EQ(cache.load(kInputs), kKernels);
  const KeptKernels none{"a compiler 1.0", ""};
  cache.keep(kInputs, none);
  EXPECT_EQ(cache.load(kInputs), none);
}

TEST_F(KernelCacheTest, OtherInputsAreOtherFiles) {
  const KernelCache cache(directory_);
  cache.keep(kInputs, kKernels);
  for (const std::vector<std::string>& other : {std::vector<std::string>{"sourceoptions"},
                                                {"sourceo", "ptions"},
                                                {"options", "source"},
                                                {"source"}}) {
    EXPECT_EQ(cache.load(other), std::nullopt);
  }
}

TEST_F(KernelCacheTest, DoesNotTrustADamagedFile) {
  const KernelCache cache(directory_);
  cache.keep(kInputs, kKernels);
  std::ifstream in(cache.path(kInputs), std::ios::binary);
  const std::string whole(std::istreambuf_iterator<char>(in), {});
  const auto load_as = [&](const std::string& content) {
    std::ofstream(cache.path(kInputs), std::ios::binary) << content;
    return cache.load(kInputs);
  };
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_EQ(load_as(changed), std::nullopt) << i;
    EXPECT_EQ(load_as(whole.substr(0, i)), std::nullopt) << i;
  }
  EXPECT_EQ(load_as(whole + " "), std::nullopt);
  EXPECT_EQ(load_as(kKernels.code), std::nullopt);
  EXPECT_EQ(load_as(whole), kKernels);
}

TEST_F(KernelCacheTest, WithoutADirectoryItKeepsNothing) {
  const KernelCache none{fs::path()};
  none.keep(kInputs, kKernels);
  EXPECT_EQ(none.load(kInputs), std::nullopt);

  std::ofstream(directory_ / "file") << "in the way";
  const KernelCache blocked(directory_ / "file");
  blocked.keep(kInputs, kKernels);
  EXPECT_EQ(blocked.load(kInputs), std::nullopt);
}

}  // namespace
}  // namespace lockstep::gpu
