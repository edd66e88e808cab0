#include "plan_text.h"

#include <gtest/gtest.h>

namespace lockstep::app {
namespace {

using program::Role, program::Segment;

TEST(PlanText, SaysClassesPeakAndWhatSharesAPlace) {
  program::Program program;
  program.buffers = {{"w", Role::parameter, 300}, {"w.partial", Role::partial, 300},
                     {"x", Role::activation, 5},  {"y", Role::activation, 4},
                     {"z", Role::activation, 3},  {"labels", Role::labels, 1}};
  program.segments = {{"packs",
                       Segment::Over::packs,
                       {{program::Load{}, "input", {}, {2, 5}},
                        {program::PoolForward{}, "pool1", {2}, {3}},
                        {program::PoolForward{}, "pool2", {3}, {4}},
                        {program::WeightGradient{}, "w", {4, 5}, {1}}}}};
  const program::MemoryPlan plan =
      program::plan_memory(program, {.threads = 2, .stack = 3, .line = 64, .scratch = 128});
  EXPECT_EQ(plan_text(program, plan),
            "  class                        bytes  needed for a\n"
            "  parameters                   1,216  run\n"
            "  partial sums                 7,296  step\n"
            "  activations                  1,152  pack\n"
            "  labels                         128  pack\n"
            "  scratch                        256  pack\n"
            "  peak                        10,048\n"
            "  share 320 bytes in each of 2 threads: x, z\n");
}

}  // namespace
}  // namespace lockstep::app
