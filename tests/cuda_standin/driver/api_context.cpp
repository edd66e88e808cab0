// Contexts: each thread has a stack of them, whose top is current.
#include <vector>

#include "driver/api.h"

namespace standin {
namespace {

thread_local std::vector<std::weak_ptr<Context>> stack;  // weak: a new configuration ends all contexts

std::shared_ptr<Context> context_of(CUcontext handle) {
  try {
    return ready_system()->contexts.get(handle);
  } catch (const Problem& problem) {
    if (problem.code() != Code::invalid_handle) throw;
    throw Problem(Code::invalid_context, "a context that does not exist or not any more");
  }
}

// The one context a device always has, made at its first use.
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

CUcontext handle_of(Context* context) { return reinterpret_cast<CUcontext>(context); }

}  // namespace

std::shared_ptr<Context> current_context() {
  if (stack.empty()) return nullptr;
  return stack.back().lock();
}

Device& current_device() {
  const std::shared_ptr<System> system = ready_system();
  const std::shared_ptr<Context> context = current_context();
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
    given(context) = handle_of(primary_context(*system, device));
  });
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  return guarded([&] { ready_system()->device(device); });
}

CUresult cuCtxCreate_v2(CUcontext* context, unsigned int, CUdevice index) {
  return guarded([&] {
    const std::shared_ptr<System> system = ready_system();
    Device& device = system->device(index);
    check_present(device);
    Context* const made = system->contexts.add(std::make_shared<Context>(Context{&device}));
    given(context) = handle_of(made);
    stack.push_back(system->contexts.get(made));
  });
}

CUresult cuCtxCreate_v4(CUcontext* context, CUctxCreateParams*, unsigned int flags, CUdevice device) {
  return cuCtxCreate_v2(context, flags, device);
}

CUresult cuCtxDestroy_v2(CUcontext context) {
  return guarded([&] {
    const std::shared_ptr<Context> removed = context_of(context);
    if (removed == removed->device->primary) {
      throw Problem(Code::invalid_context, "a primary context is released, not destroyed");
    }
    ready_system()->contexts.remove(context);
    if (current_context() == removed) stack.pop_back();
  });
}

CUresult cuCtxSetCurrent(CUcontext context) {
  return guarded([&] {
    if (!stack.empty()) stack.pop_back();
    if (context != nullptr) stack.push_back(context_of(context));
  });
}

CUresult cuCtxGetCurrent(CUcontext* context) {
  return guarded([&] {
    ready_system();
    given(context) = handle_of(current_context().get());
  });
}

CUresult cuCtxPushCurrent_v2(CUcontext context) {
  return guarded([&] { stack.push_back(context_of(context)); });
}

CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  return guarded([&] {
    const std::shared_ptr<Context> top = current_context();
    if (!top) throw Problem(Code::invalid_context, "no context is current in this thread");
    stack.pop_back();
    if (context != nullptr) *context = handle_of(top.get());
  });
}

CUresult cuCtxGetDevice(CUdevice* device) {
  return guarded([&] {
    const std::shared_ptr<Context> context = current_context();
    if (!context) throw Problem(Code::invalid_context, "no context is current in this thread");
    given(device) = context->device->index;
  });
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

CUresult cuCtxDisablePeerAccess(CUcontext peer) {
  return guarded([&] {
    Device& device = current_device();
    const std::shared_ptr<Context> other = context_of(peer);
    device.system->scheduler.wait_for_device(device);
    const std::lock_guard lock(device.system->scheduler.mutex());
    if (device.peers.erase(other->device->index) == 0) {
      throw Problem(Code::peer_access_not_enabled, "device {} had no peer access to device {}", device.index,
                    other->device->index);
    }
  });
}

}  // extern "C"
