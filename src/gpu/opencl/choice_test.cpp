#include "gpu/opencl/choice.h"

#include <array>
#include <new>

#include <gtest/gtest.h>

#include "base/refusal_for_test.h"

namespace lockstep::gpu::opencl {
namespace {

constexpr Int kOutOfResources = -5;

// Of the functions below, which give parts of a device and contexts on them, but no queue.
std::array<char, 3> parts;
char context_object;
int live = 0;  // parts and contexts that are not released yet

Int give_parts(DeviceId, const Property*, Uint count, DeviceId* ids, Uint*) {
  for (Uint i = 0; i < count; ++i) ids[i] = reinterpret_cast<DeviceId>(&parts.at(i));
  live += static_cast<int>(count);
  return kSuccess;
}
Int give_units(DeviceId, Uint, std::size_t, void* value, std::size_t*) {
  *static_cast<Uint*>(value) = 1;
  return kSuccess;
}
Context give_context(const Property*, Uint, const DeviceId*,
                     void (*)(const char*, const void*, std::size_t, void*), void*, Int*) {
  ++live;
  return reinterpret_cast<Context>(&context_object);
}
Int release_device(DeviceId) { return --live, kSuccess; }
Int release_context(Context) { return --live, kSuccess; }

CommandQueue no_queue(Context, DeviceId, Bitfield, Int* error) {
  *error = kOutOfResources;
  return nullptr;
}
CommandQueue no_host_memory(Context, DeviceId, Bitfield, Int*) { throw std::bad_alloc(); }

void make(Api::CreateCommandQueueFunction* create_queue) {
  Api api;
  api.CreateSubDevices = give_parts;
  api.GetDeviceInfo = give_units;
  api.ReleaseDevice = release_device;
  api.CreateContext = give_context;
  api.ReleaseContext = release_context;
  api.CreateCommandQueue = create_queue;
  Found cpu;
  cpu.facts.units = 4;
  cpu.cpu = true;
  const std::vector<Found> found{cpu};
  Choice choice(found, "");
  for (const char* name : {"opencl:0", "opencl:1", "opencl:2"}) choice.add(name);
  choice.make(std::make_shared<const Library>(api), {.threads = 1});
}

TEST(OpenClChoice, ReleasesAllPartsIfADriverCannotBeMade) {
  EXPECT_EQ(refusal_of(Fault::device, [] { make(no_queue); }),
            "opencl:0: clCreateCommandQueue failed: CL_OUT_OF_RESOURCES");
  EXPECT_EQ(live, 0);
  EXPECT_THROW(make(no_host_memory), std::bad_alloc);
  EXPECT_EQ(live, 0);
}

}  // namespace
}  // namespace lockstep::gpu::opencl
