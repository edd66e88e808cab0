#include "gpu/shared_library.h"

#include <vector>

#include <gtest/gtest.h>

#include "base/strange_floats_for_test.h"

namespace lockstep::gpu {
namespace {

TEST(SharedLibrary, LoadingOneLeavesTheFloatingPointEnvironmentAsItWas) {
  const InStrangeFloats as_it_was({"as it was"});
  std::string problem;
  const auto library =
      SharedLibrary::open(std::vector<std::string>{"/nowhere", LOCKSTEP_FLUSHING_LIBRARY}, problem);
  ASSERT_TRUE(library) << problem;
  EXPECT_TRUE(as_it_was.unchanged());
  // It does change the environment: its loading calls this function.
  reinterpret_cast<void (*)()>(library->find("flush_denormals_and_round_down"))();
  EXPECT_FALSE(as_it_was.unchanged());
}

}  // namespace
}  // namespace lockstep::gpu
