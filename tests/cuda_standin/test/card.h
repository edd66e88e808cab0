// A device of the stand-in with the few calls the tests need.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "driver/cuda_types.h"
#include "standin.h"

extern "C" {
#include "driver/cuda_functions.inc"
}

namespace standin_test {

inline void expect_success(CUresult result, const char* what) {
  if (result == 0) return;
  throw std::runtime_error(std::string(what) + " gave " + std::to_string(result) + ": " +
                           standin_last_error());
}

inline void configure(const std::string& text) {
  expect_success(standin_configure(text.c_str()), "standin_configure");
  expect_success(cuInit(0), "cuInit");
}

// Makes a device's context current in this thread.
inline CUcontext use_device(int index) {
  CUcontext context = nullptr;
  expect_success(cuDevicePrimaryCtxRetain(&context, index), "cuDevicePrimaryCtxRetain");
  expect_success(cuCtxSetCurrent(context), "cuCtxSetCurrent");
  return context;
}

template <class T>
CUdeviceptr upload(const std::vector<T>& values) {
  CUdeviceptr address = 0;
  expect_success(cuMemAlloc_v2(&address, values.size() * sizeof(T)), "cuMemAlloc");
  expect_success(cuMemcpyHtoD_v2(address, values.data(), values.size() * sizeof(T)), "cuMemcpyHtoD");
  return address;
}

template <class T>
CUdeviceptr allocate(std::size_t count) {
  CUdeviceptr address = 0;
  expect_success(cuMemAlloc_v2(&address, count * sizeof(T)), "cuMemAlloc");
  return address;
}

template <class T>
std::vector<T> download(CUdeviceptr address, std::size_t count) {
  std::vector<T> values(count);
  expect_success(cuMemcpyDtoH_v2(values.data(), address, count * sizeof(T)), "cuMemcpyDtoH");
  return values;
}

inline CUmodule load(const std::string& ptx) {
  CUmodule module = nullptr;
  expect_success(cuModuleLoadData(&module, ptx.c_str()), "cuModuleLoadData");
  return module;
}

inline CUfunction kernel_of(CUmodule module, const char* name) {
  CUfunction function = nullptr;
  expect_success(cuModuleGetFunction(&function, module, name), "cuModuleGetFunction");
  return function;
}

inline CUfunction kernel(const std::string& ptx, const char* name) { return kernel_of(load(ptx), name); }

struct Shape {
  unsigned grid = 1;
  unsigned block = 1;
  unsigned shared = 0;
  CUstream stream = nullptr;
};

// Enqueues; gives the result of the call.
template <class... Arguments>
CUresult launch(CUfunction function, const Shape& shape, Arguments... arguments) {
  void* parameters[] = {static_cast<void*>(&arguments)..., nullptr};
  return cuLaunchKernel(function, shape.grid, 1, 1, shape.block, 1, 1, shape.shared, shape.stream, parameters,
                        nullptr);
}

// Enqueues and waits; gives the first result that is no success.
template <class... Arguments>
CUresult launch_and_wait(CUfunction function, const Shape& shape, Arguments... arguments) {
  const CUresult result = launch(function, shape, arguments...);
  return result != 0 ? result : cuStreamSynchronize(shape.stream);
}

}  // namespace standin_test
