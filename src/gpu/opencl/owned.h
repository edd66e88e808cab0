// Objects of OpenCL that are released with their owner. Require: the table of functions outlives them.
#pragma once
#include <memory>
#include <type_traits>

#include "gpu/opencl/api.h"

namespace lockstep::gpu::opencl {

// `release` is the member of Api that gives the object back.
template <auto release>
struct Release {
  const Api* api = nullptr;

  template <class Object>
  void operator()(Object* object) const {
    (api->*release)(object);
  }
};

template <class Handle, auto release>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, Release<release>>;

using OwnedDevice = Owned<DeviceId, &Api::ReleaseDevice>;  // a part of another
using OwnedContext = Owned<Context, &Api::ReleaseContext>;
using OwnedQueue = Owned<CommandQueue, &Api::ReleaseCommandQueue>;
using OwnedMem = Owned<Mem, &Api::ReleaseMemObject>;
using OwnedProgram = Owned<Program, &Api::ReleaseProgram>;
using OwnedKernel = Owned<Kernel, &Api::ReleaseKernel>;
using OwnedEvent = Owned<ClEvent, &Api::ReleaseEvent>;

}  // namespace lockstep::gpu::opencl
