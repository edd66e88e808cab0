#include "report/device_use.h"

#include <gtest/gtest.h>

namespace lockstep::report {
namespace {

TEST(DeviceUse, SharesAreALine) {
  train::RunStart start{.devices = {"cpu:0", "opencl:0"}, .packs = {15, 1}, .calibrated = true};
  EXPECT_EQ(shares_line(start), "shares: cpu:0 15 packs, opencl:0 1 pack (calibrated)\n");
  start.calibrated = false;
  EXPECT_EQ(shares_line(start), "shares: cpu:0 15 packs, opencl:0 1 pack\n");
  start.packs.clear();
  EXPECT_EQ(shares_line(start), "");
}

TEST(DeviceUse, ALineADevice) {
  train::RunEnd end{.devices = {"cpu:0", "opencl:0"},
                    .use = {{.packs = 1500, .times = {.compute = 2.5, .exchange = 0.25, .wait = 0.125}},
                            {.packs = 500, .times = {.compute = 2.75, .exchange = 0.125, .wait = 0}}}};
  EXPECT_EQ(device_use(end),
            "device    packs  share  computing  exchanging  waiting\n"
            "cpu:0     1,500   75 %     2.50 s      0.25 s   0.12 s\n"
            "opencl:0    500   25 %     2.75 s      0.12 s   0.00 s\n");
}

TEST(DeviceUse, NothingIsSaidOfOneDeviceOrOfCpuDevices) {
  EXPECT_EQ(device_use({.devices = {"opencl:0"}, .use = {{.packs = 5}}}), "");
  EXPECT_EQ(device_use({.devices = {"cpu:0", "cpu:1"}, .use = {{.packs = 5}, {.packs = 5}}}), "");
}

}  // namespace
}  // namespace lockstep::report
