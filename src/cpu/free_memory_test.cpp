#include "cpu/free_memory.h"

#include <fstream>

#include <gtest/gtest.h>

namespace lockstep::cpu {
namespace {

class FreeMemory : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::remove_all(root_);
    write("proc/meminfo", "MemTotal:        9000 kB\nMemFree:          100 kB\nMemAvailable:    5000 kB\n");
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  void write(const std::filesystem::path& file, const std::string& text) const {
    std::filesystem::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }
  const std::filesystem::path root_ =
      std::filesystem::path(testing::TempDir()) /
      (std::string("free_memory_") + testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(FreeMemory, IsWhatTheSystemHasAvailable) { EXPECT_EQ(free_memory(root_), 5000u * 1024); }

TEST_F(FreeMemory, IsWhatTheNearestLimitOfAGroupLeaves) {
  write("proc/self/cgroup", "0::/outer/inner\n");
  write("sys/fs/cgroup/outer/inner/memory.max", "max\n");
  write("sys/fs/cgroup/outer/inner/memory.current", "70000\n");
  write("sys/fs/cgroup/outer/memory.max", "200000\n");
  write("sys/fs/cgroup/outer/memory.current", "150000\n");
  write("sys/fs/cgroup/outer/memory.stat", "anon 90000\ninactive_file 30000\n");
  EXPECT_EQ(free_memory(root_), 80'000u);
}

TEST_F(FreeMemory, KnowsTheFirstVersionOfGroups) {
  write("proc/self/cgroup", "5:cpu:/\n4:hugetlb,memory:/job\n0::/\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("sys/fs/cgroup/memory/memory.usage_in_bytes", "300000\n");
  write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "200000\n");
  write("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "250000\n");
  write("sys/fs/cgroup/memory/job/memory.stat", "cache 7\ntotal_inactive_file 100000\n");
  EXPECT_EQ(free_memory(root_), 50'000u);
}

TEST_F(FreeMemory, WithoutAnyOfThisThereIsNoLimit) {
  std::filesystem::remove_all(root_);
  EXPECT_EQ(free_memory(root_), kNoLimit);
}

}  // namespace
}  // namespace lockstep::cpu
