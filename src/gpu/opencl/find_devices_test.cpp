// Platforms that are made up: some of them, and some of their devices, fail.
#include "gpu/opencl/find_devices.h"

#include <array>
#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/refusal_for_test.h"

namespace lockstep::gpu::opencl {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr Int kOutOfHostMemory = -6, kDeviceNotAvailable = -2;

struct Platform {
  const char* name;                 // null: it does not say
  Int error = kSuccess;             // of its list of devices
  std::array<Int, 2> devices = {};  // what each says when it is asked for its name
};

// What the functions below answer for; its elements' addresses are the platforms, and those of their devices'
// errors are the devices.
std::array<Platform, 3> platforms;
Int platforms_error = kSuccess;

Int give_platforms(Uint, PlatformId* ids, Uint* count) {
  if (platforms_error != kSuccess) return platforms_error;
  if (count != nullptr) *count = static_cast<Uint>(platforms.size());
  for (std::size_t i = 0; ids != nullptr && i < platforms.size(); ++i)
    ids[i] = reinterpret_cast<PlatformId>(&platforms[i]);
  return kSuccess;
}

Int give_name(PlatformId id, Uint what, std::size_t size, void* value, std::size_t*) {
  const Platform& platform = *reinterpret_cast<const Platform*>(id);
  if (platform.name == nullptr) return kOutOfHostMemory;
  const char* const text = what == kPlatformVersion ? "OpenCL 3.0, LLVM 15" : platform.name;
  std::strncpy(static_cast<char*>(value), text, size);
  return kSuccess;
}

Int give_devices(PlatformId id, Bitfield, Uint, DeviceId* ids, Uint* count) {
  Platform& platform = *reinterpret_cast<Platform*>(id);
  if (platform.error != kSuccess) return platform.error;
  if (count != nullptr) *count = static_cast<Uint>(platform.devices.size());
  for (std::size_t i = 0; ids != nullptr && i < platform.devices.size(); ++i)
    ids[i] = reinterpret_cast<DeviceId>(&platform.devices[i]);
  return kSuccess;
}

Int give_fact(DeviceId id, Uint what, std::size_t size, void* value, std::size_t* needed) {
  if (needed != nullptr) *needed = 1;
  if (value != nullptr) std::memset(value, 0, size);
  return what == kDeviceName ? *reinterpret_cast<const Int*>(id) : kSuccess;
}

Findings found() {
  Api api;
  api.GetPlatformIDs = give_platforms;
  api.GetPlatformInfo = give_name;
  api.GetDeviceIDs = give_devices;
  api.GetDeviceInfo = give_fact;
  return find_devices(api);
}

std::vector<std::string> names(const Findings& findings) {
  std::vector<std::string> names;
  names.reserve(findings.devices.size());
  for (const Found& device : findings.devices) names.push_back(device.facts.name);
  return names;
}

class OpenClDevices : public testing::Test {
 protected:
  void SetUp() override {
    platforms = {Platform{"First"}, Platform{"Second"}, Platform{"Third"}};
    platforms_error = kSuccess;
  }
};

TEST_F(OpenClDevices, AreNumberedPlatformAfterPlatform) {
  const Findings all = found();
  EXPECT_THAT(names(all),
              ElementsAre("opencl:0", "opencl:1", "opencl:2", "opencl:3", "opencl:4", "opencl:5"));
  EXPECT_THAT(all.left_out, IsEmpty());
  EXPECT_EQ(all.devices[2].platform, reinterpret_cast<PlatformId>(&platforms[1]));
  EXPECT_EQ(all.devices[2].facts.compiler, ", OpenCL 3.0, LLVM 15");
  EXPECT_EQ(all.devices[2].device, reinterpret_cast<DeviceId>(&platforms[1].devices[0]));
}

TEST_F(OpenClDevices, OfAPlatformThatFailsAreLeftOut) {
  platforms[0].error = kOutOfHostMemory;
  platforms[2] = {nullptr, kDeviceNotAvailable};
  const Findings rest = found();
  EXPECT_THAT(names(rest), ElementsAre("opencl:0", "opencl:1"));
  EXPECT_EQ(rest.devices[0].platform, reinterpret_cast<PlatformId>(&platforms[1]));
  EXPECT_THAT(rest.left_out,
              ElementsAre("OpenCL platform 0, First: clGetDeviceIDs failed: CL_OUT_OF_HOST_MEMORY",
                          "OpenCL platform 2: clGetDeviceIDs failed: CL_DEVICE_NOT_AVAILABLE"));
}

TEST_F(OpenClDevices, ThatFailAreLeftOut) {
  platforms[1].devices[0] = kDeviceNotAvailable;
  const Findings rest = found();
  EXPECT_THAT(names(rest), ElementsAre("opencl:0", "opencl:1", "opencl:2", "opencl:3", "opencl:4"));
  EXPECT_EQ(rest.devices[2].device, reinterpret_cast<DeviceId>(&platforms[1].devices[1]));
  EXPECT_THAT(rest.left_out, ElementsAre("device 0 of OpenCL platform 1, Second: clGetDeviceInfo failed: "
                                         "CL_DEVICE_NOT_AVAILABLE"));
}

TEST_F(OpenClDevices, ThereMayBeNone) {
  platforms[0].error = kDeviceNotFound;
  EXPECT_THAT(names(found()), ElementsAre("opencl:0", "opencl:1", "opencl:2", "opencl:3"));
  EXPECT_THAT(found().left_out, IsEmpty());
  platforms_error = kPlatformNotFound;
  EXPECT_THAT(found().devices, IsEmpty());
  platforms_error = kOutOfHostMemory;
  EXPECT_EQ(refusal_of(Fault::device, found), "OpenCL: clGetPlatformIDs failed: CL_OUT_OF_HOST_MEMORY");
}

}  // namespace
}  // namespace lockstep::gpu::opencl
