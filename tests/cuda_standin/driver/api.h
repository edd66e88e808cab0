// What every exported function needs: the declarations, a guard that turns Problem into a result code, and
// the calling thread's context.
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

std::shared_ptr<Context> current_context();
void set_current_context(const Context* context);
void mark_initialised();

// The current context's device. Throws if there is none or the device has failed.
Device& current_device();
// The stream of a handle, which may be null for the default one. Throws if its device has failed.
std::shared_ptr<Stream> stream_of(CUstream handle);

template <class Body>
CUresult guarded(const Body& body) {
  try {
    body();
    return 0;
  } catch (const Problem& problem) {
    if (problem.code() != Code::not_ready) record_error(problem.what());
    return static_cast<CUresult>(problem.code());
  } catch (const std::bad_alloc&) {
    record_error("the host has no memory left");
    return static_cast<CUresult>(Code::out_of_memory);
  } catch (const std::exception& error) {
    record_error(error.what());
    return static_cast<CUresult>(Code::unknown);
  }
}

template <class T>
T& given(T* pointer) {
  if (pointer == nullptr) throw Problem(Code::invalid_value, "a null pointer where a result was to go");
  return *pointer;
}

}  // namespace standin
