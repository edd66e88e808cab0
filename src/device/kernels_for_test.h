// Where tests keep the kernels they have compiled, for all test programs: some compilers take twenty seconds.
#pragma once
#include <filesystem>

#include <gtest/gtest.h>

namespace lockstep::device {

inline std::filesystem::path kernels_for_test() { return testing::TempDir() + "lockstep-kernels"; }

}  // namespace lockstep::device
