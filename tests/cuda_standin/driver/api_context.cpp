// Contexts: each device has one, and each thread at most one that is current.
#include "driver/api.h"

namespace standin {
namespace {

thread_local std::weak_ptr<Context> current;  // weak: a new configuration ends all contexts

std::shared_ptr<Context> context_of(CUcontext handle) {
  try {
    return ready_system()->contexts.get(handle);
  } catch (const Problem& problem) {
    if (problem.code() != Code::invalid_handle) throw;
    throw Problem(Code::invalid_context, "a context that does not exist or not any more");
  }
}

// A device's one context, made at its first use.
Context* primary_context(System& system, Device& device) {
  const std::lock_guard lock(system.scheduler.mutex());
  if (device.primary == nullptr) {
    device.primary = std::make_shared<Context>(Context{&device});
    system.contexts.add(device.primary);
  }
  return device.primary.get();
}

// A device that failed otherwise can still be asked for its context; a lost one cannot.
void check_present(const Device& device) {
  const std::lock_guard lock(device.system->scheduler.mutex());
  if (device.lost) throw Problem(Code::device_unavailable, "");
}

}  // namespace

Device& current_device() {
  const std::shared_ptr<System> system = ready_system();
  const std::shared_ptr<Context> context = current.lock();
  if (!context) throw Problem(Code::invalid_context, "no context is current in this thread");
  system->scheduler.check(*context->device);
  return *context->device;
}

std::shared_ptr<Stream> stream_of(CUstream handle) {
  const std::shared_ptr<System> system = ready_system();
  if (handle == nullptr || reinterpret_cast<std::uintptr_t>(handle) == 1)
    return current_device().default_stream;
  std::shared_ptr<Stream> stream = system->streams.get(handle);
  system->scheduler.check(*stream->device);
  return stream;
}

}  // namespace standin

using namespace standin;  // NOLINT: the functions below are C's

extern "C" {

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice index) {
  return guarded([&] {
    const std::shared_ptr<System> system = ready_system();
    Device& device = system->device(index);
    check_present(device);
    given(context) = reinterpret_cast<CUcontext>(primary_context(*system, device));
  });
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  return guarded([&] { ready_system()->device(device); });
}

CUresult cuCtxSetCurrent(CUcontext context) {
  return guarded([&] { current = context == nullptr ? nullptr : context_of(context); });
}

CUresult cuCtxSynchronize() {
  return guarded([&] {
    Device& device = current_device();
    device.system->scheduler.wait_for_device(device);
  });
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned int flags) {
  return guarded([&] {
    Device& device = current_device();
    const std::shared_ptr<Context> other = context_of(peer);
    if (flags != 0) throw Problem(Code::invalid_value, "cuCtxEnablePeerAccess with flags {}", flags);
    if (!device.system->configuration().peer || other->device == &device) {
      throw Problem(Code::peer_access_unsupported, "device {} has no peer access to device {}", device.index,
                    other->device->index);
    }
    const std::lock_guard lock(device.system->scheduler.mutex());
    if (!device.peers.insert(other->device->index).second) {
      throw Problem(Code::peer_access_already_enabled, "device {} has peer access to device {} already",
                    device.index, other->device->index);
    }
  });
}

}  // extern "C"
