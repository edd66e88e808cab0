#include "devices.h"

#include <gtest/gtest.h>

namespace lockstep::app {
namespace {

TEST(CpuNumberNote, SaysWhatANumberAboveTheCoresMeans) {
  EXPECT_EQ(cpu_number_note({"cpu:9"}, 2),
            "cpu:9: the number is only a name and chooses no core; the CPU devices share the 2 cores that "
            "this process may use\n");
  EXPECT_EQ(cpu_number_note({"opencl:0", "cpu:0", "cpu:2"}, 1),
            "cpu:2: the number is only a name and chooses no core; the CPU devices share the 1 core that "
            "this process may use\n");
}

TEST(CpuNumberNote, KeepsSilentWhereNothingIsSurprising) {
  EXPECT_EQ(cpu_number_note({"cpu:0", "cpu:1", "cpu:2"}, 2), "") << "3xcpu is a count";
  EXPECT_EQ(cpu_number_note({"cpu:1"}, 2), "");
  EXPECT_EQ(cpu_number_note({"opencl:9", "cuda:7"}, 2), "");
}

}  // namespace
}  // namespace lockstep::app
