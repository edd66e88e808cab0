// When the host waits for a device that may still be copying out of the host's memory.
#include <gtest/gtest.h>

#include "gpu/bare_driver_for_test.h"
#include "gpu/gpu_executable.h"
#include "model/zoo.h"
#include "program/checked_for_test.h"
#include "program/compile.h"

namespace lockstep::gpu {
namespace {

// How often the host waits until it has the place for a message to be received there.
int waits_for_a_place(GpuExecutable& executable, BareDriver& driver, const device::Transfer& transfer) {
  const int before = driver.waits;
  executable.bytes(transfer);
  return driver.waits - before;
}

TEST(GpuExchange, AMessageIsReceivedWhereTheDeviceHasTakenTheOneBefore) {
  BareDriver driver;
  const program::Program program =
      program::checked_data_parallel(program::compile_training(model::zoo_model("mlp")), {.ranks = 2}, 4)[0];
  GpuExecutable executable(program, {.most_packs = 4}, driver);
  const program::BufferId parameter = program.sums.back().parameter;
  const device::Transfer first{{parameter, 0, 4}}, beside{{parameter, 4, 4}}, across{{parameter, 3, 2}};

  EXPECT_EQ(waits_for_a_place(executable, driver, first), 0);
  const int before = driver.waits;
  executable.deliver(std::vector{first, beside});
  EXPECT_EQ(driver.waits, before) << "the host need not wait to hand numbers over";
  EXPECT_EQ(waits_for_a_place(executable, driver, first), 1);
  EXPECT_EQ(waits_for_a_place(executable, driver, first), 0) << "nothing has arrived there since";
  EXPECT_EQ(waits_for_a_place(executable, driver, across), 1) << "its second half was not taken";
}

}  // namespace
}  // namespace lockstep::gpu
