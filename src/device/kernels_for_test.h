// Where tests keep the kernels they have compiled, for all test programs: some compilers take twenty seconds.
#pragma once
#include <cstdlib>
#include <filesystem>

namespace lockstep::device {

// In $TEST_TMPDIR, else beside the test program, in the folder that it was built in.
inline std::filesystem::path kernels_for_test() {
  const char* const own = std::getenv("TEST_TMPDIR");  // NOLINT(concurrency-mt-unsafe)
  const std::filesystem::path folder = own != nullptr
                                           ? std::filesystem::path(own)
                                           : std::filesystem::read_symlink("/proc/self/exe").parent_path();
  return folder / "kernels";
}

}  // namespace lockstep::device
