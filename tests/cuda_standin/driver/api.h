// What every exported function needs: the declarations, a guard that turns exceptions into result codes, and
// the calling thread's device.
#pragma once

#include <cstddef>
#include <memory>

#include "driver/cuda_types.h"
#include "driver/system.h"

extern "C" {
#include "driver/cuda_functions.inc"
}

namespace standin {

// The system of this process; throws Problem(not_initialized) before cuInit.
std::shared_ptr<System> ready_system();

// The current context's device. Throws if there is none or the device has failed.
Device& current_device();
// The stream of a handle, which may be null for the default one. Throws if its device has failed.
std::shared_ptr<Stream> stream_of(CUstream handle);

template <class Body>
CUresult guarded(const Body& body) {
  try {
    body();
    return 0;
  } catch (...) {
    return static_cast<CUresult>(record_exception());
  }
}

template <class T>
T& given(T* pointer) {
  if (pointer == nullptr) throw Problem(Code::invalid_value, "a null pointer where a result was to go");
  return *pointer;
}

}  // namespace standin
