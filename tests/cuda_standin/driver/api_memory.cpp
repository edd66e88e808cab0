// Device and host memory, copies and fills.
#include "driver/api.h"

namespace standin {
namespace {

std::uint64_t address_of(const void* place) { return reinterpret_cast<std::uint64_t>(place); }

enum class Side { host, device, any };

void check_side(const System& system, std::uint64_t address, std::uint64_t bytes, Side side) {
  const bool on_device = system.owner(address) != nullptr;
  if (bytes == 0 || side == Side::any || on_device == (side == Side::device)) return;
  throw Problem(Code::invalid_value, "address {:#x} is {} memory", address,
                on_device ? "a device's" : "no device");
}

struct Copy {
  std::uint64_t to;
  Side to_side;
  std::uint64_t from;
  Side from_side;
  std::uint64_t bytes;
};

Point start(const Copy& copy, const std::shared_ptr<Stream>& stream) {
  System& system = *stream->device->system;
  check_side(system, copy.to, copy.bytes, copy.to_side);
  check_side(system, copy.from, copy.bytes, copy.from_side);
  return system.copy(stream, copy.to, copy.from, copy.bytes);
}

void start_and_wait(const Copy& copy) {
  Device& device = current_device();
  device.system->scheduler.wait(start(copy, device.default_stream));
}

// Copies between devices inside one call need peer access, except cuMemcpyPeerAsync and the unified
// cuMemcpyAsync.
void check_reach(const Device& device, std::uint64_t address) {
  const Device* const owner = device.system->owner(address);
  if (owner == nullptr || owner == &device) return;
  const std::lock_guard lock(device.system->scheduler.mutex());
  if (!device.peers.contains(owner->index)) {
    throw Problem(Code::illegal_address, "device {} copies memory of device {} without peer access",
                  device.index, owner->index);
  }
}

}  // namespace
}  // namespace standin

using namespace standin;  // NOLINT: the functions below are C's

extern "C" {

CUresult cuMemGetInfo_v2(size_t* free, size_t* total) {
  return guarded([&] {
    const DeviceMemory& memory = *current_device().memory;
    given(free) = memory.free_bytes();
    given(total) = memory.total_bytes();
  });
}

CUresult cuMemAlloc_v2(CUdeviceptr* address, size_t bytes) {
  return guarded([&] { given(address) = current_device().memory->allocate(bytes); });
}

CUresult cuMemFree_v2(CUdeviceptr address) {
  return guarded([&] {
    if (address == 0) return;
    const std::shared_ptr<System> system = ready_system();
    Device* const owner = system->owner(address);
    if (owner == nullptr)
      throw Problem(Code::invalid_value, "free of {:#x}, which is no device memory", address);
    system->scheduler.wait_for_device(*owner);
    owner->memory->free(address);
  });
}

CUresult cuMemAllocHost_v2(void** place, size_t bytes) {
  return guarded([&] { given(place) = current_device().system->allocate_host(bytes); });
}

CUresult cuMemFreeHost(void* place) {
  return guarded([&] { ready_system()->free_host(place); });
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, size_t bytes) {
  return guarded([&] { start_and_wait({to, Side::device, address_of(from), Side::host, bytes}); });
}

CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, size_t bytes) {
  return guarded([&] { start_and_wait({address_of(to), Side::host, from, Side::device, bytes}); });
}

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return guarded([&] { start({to, Side::any, from, Side::any, bytes}, stream_of(stream)); });
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t bytes, CUstream stream) {
  return guarded([&] { start({to, Side::device, address_of(from), Side::host, bytes}, stream_of(stream)); });
}

CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return guarded([&] { start({address_of(to), Side::host, from, Side::device, bytes}, stream_of(stream)); });
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return guarded([&] {
    const std::shared_ptr<Stream> in = stream_of(stream);
    check_reach(*in->device, to);
    check_reach(*in->device, from);
    start({to, Side::device, from, Side::device, bytes}, in);
  });
}

CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                           size_t bytes, CUstream stream) {
  return guarded([&] {
    const std::shared_ptr<Stream> in = stream_of(stream);
    const System& system = *in->device->system;
    const auto check_owner = [&](CUdeviceptr address, CUcontext context) {
      const Device* const owner = system.owner(address);
      if (bytes != 0 && owner != system.contexts.get(context)->device) {
        throw Problem(Code::invalid_value, "address {:#x} does not belong to the context given with it",
                      address);
      }
    };
    check_owner(to, to_context);
    check_owner(from, from_context);
    start({to, Side::device, from, Side::device, bytes}, in);
  });
}

CUresult cuMemsetD32Async(CUdeviceptr to, unsigned int value, size_t count, CUstream stream) {
  return guarded([&] {
    const std::shared_ptr<Stream> in = stream_of(stream);
    in->device->system->fill(in, to, value, count);
  });
}

}  // extern "C"
