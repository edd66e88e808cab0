// Errors, initialisation and devices.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <string>

#include <dlfcn.h>

#include "driver/api.h"
#include "standin.h"

namespace standin {
namespace {

std::atomic<bool> initialised{false};

// Null for an error the stand-in does not know.
const char* name_of(CUresult error) {
  static const std::map<int, const char*> names{
      {0, "CUDA_SUCCESS"},
      {1, "CUDA_ERROR_INVALID_VALUE"},
      {2, "CUDA_ERROR_OUT_OF_MEMORY"},
      {3, "CUDA_ERROR_NOT_INITIALIZED"},
      {46, "CUDA_ERROR_DEVICE_UNAVAILABLE"},
      {100, "CUDA_ERROR_NO_DEVICE"},
      {101, "CUDA_ERROR_INVALID_DEVICE"},
      {201, "CUDA_ERROR_INVALID_CONTEXT"},
      {209, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
      {217, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED"},
      {218, "CUDA_ERROR_INVALID_PTX"},
      {400, "CUDA_ERROR_INVALID_HANDLE"},
      {500, "CUDA_ERROR_NOT_FOUND"},
      {600, "CUDA_ERROR_NOT_READY"},
      {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
      {702, "CUDA_ERROR_LAUNCH_TIMEOUT"},
      {704, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED"},
      {716, "CUDA_ERROR_MISALIGNED_ADDRESS"},
      {719, "CUDA_ERROR_LAUNCH_FAILED"},
      {999, "CUDA_ERROR_UNKNOWN"},
  };
  const auto found = names.find(error);
  return found == names.end() ? nullptr : found->second;
}

int attribute_of(const Configuration& configuration, int attribute, int device) {
  static const std::map<int, int> values{
      {1, 1024},        // max threads per block
      {2, 1024},        // max block dim x
      {3, 1024},        // y
      {4, 64},          // z
      {5, 2147483647},  // max grid dim x
      {6, 65535},       // y
      {7, 65535},       // z
      {8, 49152},       // max shared memory per block
      {9, 65536},       // total constant memory
      {10, 32},         // warp size
      {12, 65536},      // max registers per block
      {13, 1500000},    // clock rate
      {16, 132},        // multiprocessors
      {31, 1},          // concurrent kernels
      {36, 2000000},    // memory clock rate
      {37, 5120},       // memory bus width
      {38, 50 << 20},   // L2 cache
      {39, 2048},       // max threads per multiprocessor
      {40, 3},          // copy engines
      {41, 1},          // unified addressing
      {81, 233472},     // max shared memory per multiprocessor
      {82, 65536},      // max registers per multiprocessor
      {97, 232448},     // max shared memory per block, opted in
      {106, 32},        // max blocks per multiprocessor
  };
  if (attribute == 33) return device + 1;  // PCI bus
  if (attribute == 75) return configuration.capability / 10;
  if (attribute == 76) return configuration.capability % 10;
  const auto found = values.find(attribute);
  return found == values.end() ? 0 : found->second;
}

void copy_text(const std::string& text, char* to, int length) {
  if (to == nullptr || length <= 0) throw Problem(Code::invalid_value, "no room for a text");
  const std::size_t count = std::min(text.size(), static_cast<std::size_t>(length) - 1);
  std::memcpy(to, text.data(), count);
  to[count] = '\0';
}

// This library, however it was opened.
void* own_handle() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&own_handle), &info) == 0) return nullptr;
  return dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
}

}  // namespace

std::shared_ptr<System> ready_system() {
  if (!initialised) throw Problem(Code::not_initialized, "cuInit was not called");
  return current_system();
}

}  // namespace standin

using namespace standin;  // NOLINT: the functions below are C's

extern "C" {

int standin_configure(const char* text) {
  return guarded([&] { replace_system(parse_configuration(text == nullptr ? "" : text)); });
}

const char* standin_last_error() {
  thread_local std::string text;
  text = last_error();
  return text.c_str();
}

unsigned long long standin_instructions() { return current_system()->instructions; }

CUresult cuGetErrorName(CUresult error, const char** text) {
  if (text == nullptr) return 1;
  *text = name_of(error);
  return *text == nullptr ? 1 : 0;
}

CUresult cuInit(unsigned int flags) {
  return guarded([&] {
    if (flags != 0) throw Problem(Code::invalid_value, "cuInit with flags {}", flags);
    if (current_system()->device_count() == 0) throw Problem(Code::no_device, "configured without devices");
    initialised = true;
  });
}

CUresult cuDriverGetVersion(int* version) {
  return guarded([&] { given(version) = 13000; });
}

CUresult cuGetProcAddress_v2(const char* symbol, void** function, int, cuuint64_t,
                             CUdriverProcAddressQueryResult* status) {
  return guarded([&] {
    if (symbol == nullptr) throw Problem(Code::invalid_value, "cuGetProcAddress without a name");
    void* const self = own_handle();
    void* found = nullptr;
    for (const char* const suffix : {"_v2", ""}) {
      if (found == nullptr) found = dlsym(self, (std::string(symbol) + suffix).c_str());
    }
    given(function) = found;
    if (status != nullptr) *status = found == nullptr ? 1 : 0;
    if (found == nullptr) throw Problem(Code::not_found, "the stand-in has no function {}", symbol);
  });
}

CUresult cuDeviceGetCount(int* count) {
  return guarded([&] { given(count) = ready_system()->device_count(); });
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  return guarded([&] { given(device) = ready_system()->device(ordinal).index; });
}

CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  return guarded([&] {
    const bool unlike = ready_system()->configuration().unlike;
    const int index = ready_system()->device(device).index;
    copy_text(unlike ? "CUDA stand-in " + std::to_string(index) : "CUDA stand-in", name, length);
  });
}

CUresult cuDeviceGetPCIBusId(char* text, int length, CUdevice device) {
  return guarded([&] {
    copy_text(fmt::format("0000:{:02x}:00.0", ready_system()->device(device).index + 1), text, length);
  });
}

CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice device) {
  return guarded([&] { given(bytes) = ready_system()->device(device).memory->total_bytes(); });
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  return guarded([&] {
    const std::shared_ptr<System> system = ready_system();
    given(value) = attribute_of(system->configuration(), attribute, system->device(device).index);
  });
}

CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  return guarded([&] {
    const std::shared_ptr<System> system = ready_system();
    const bool different = system->device(device).index != system->device(peer).index;
    given(can) = different && system->configuration().peer ? 1 : 0;
  });
}

}  // extern "C"
