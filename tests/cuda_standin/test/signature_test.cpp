// Holds the hand-written declarations against the real cuda.h, where it is installed, while this file
// compiles.
#include <cstddef>
#include <type_traits>

#include <gtest/gtest.h>

#if __has_include(<cuda.h>)
#include <cuda.h>
#define STANDIN_HAS_CUDA_HEADER 1
#endif

#ifdef STANDIN_HAS_CUDA_HEADER
#include "problem.h"

namespace ours {
#include "driver/cuda_types.h"
//
#include "driver/cuda_functions.inc"
}  // namespace ours

namespace {

// The same to a caller: equal sizes, integers and enums alike, pointers to alike things; handles are opaque.
template <class Real, class Ours>
constexpr bool alike() {
  if constexpr (std::is_pointer_v<Real> && std::is_pointer_v<Ours>) {
    using A = std::remove_pointer_t<Real>;
    using B = std::remove_pointer_t<Ours>;
    if constexpr (std::is_const_v<A> != std::is_const_v<B>) {
      return false;
    } else if constexpr (std::is_class_v<A> && std::is_class_v<B>) {
      return true;
    } else if constexpr (std::is_void_v<A> || std::is_void_v<B>) {
      return std::is_void_v<A> && std::is_void_v<B>;
    } else {
      return alike<A, B>();
    }
  } else {
    const auto is_whole = [](auto type) {
      using T = typename decltype(type)::type;
      return std::is_integral_v<T> || std::is_enum_v<T>;
    };
    return sizeof(Real) == sizeof(Ours) &&
           (std::is_same_v<std::remove_cv_t<Real>, std::remove_cv_t<Ours>> ||
            (is_whole(std::type_identity<Real>()) && is_whole(std::type_identity<Ours>())));
  }
}

template <class Real, class... RealArguments, class Ours, class... OurArguments>
constexpr bool same(Real (*)(RealArguments...), Ours (*)(OurArguments...)) {
  if constexpr (sizeof...(RealArguments) == sizeof...(OurArguments)) {
    return alike<Real, Ours>() && (alike<RealArguments, OurArguments>() && ...);
  } else {
    return false;
  }
}

static_assert(same(&::cuGetErrorName, &ours::cuGetErrorName));
static_assert(same(&::cuInit, &ours::cuInit));
static_assert(same(&::cuDriverGetVersion, &ours::cuDriverGetVersion));
static_assert(same(&::cuGetProcAddress_v2, &ours::cuGetProcAddress_v2));
static_assert(same(&::cuDeviceGetCount, &ours::cuDeviceGetCount));
static_assert(same(&::cuDeviceGet, &ours::cuDeviceGet));
static_assert(same(&::cuDeviceGetName, &ours::cuDeviceGetName));
static_assert(same(&::cuDeviceTotalMem_v2, &ours::cuDeviceTotalMem_v2));
static_assert(same(&::cuDeviceGetAttribute, &ours::cuDeviceGetAttribute));
static_assert(same(&::cuDeviceCanAccessPeer, &ours::cuDeviceCanAccessPeer));
static_assert(same(&::cuDevicePrimaryCtxRetain, &ours::cuDevicePrimaryCtxRetain));
static_assert(same(&::cuDevicePrimaryCtxRelease_v2, &ours::cuDevicePrimaryCtxRelease_v2));
static_assert(same(&::cuCtxSetCurrent, &ours::cuCtxSetCurrent));
static_assert(same(&::cuCtxSynchronize, &ours::cuCtxSynchronize));
static_assert(same(&::cuCtxEnablePeerAccess, &ours::cuCtxEnablePeerAccess));
static_assert(same(&::cuMemGetInfo_v2, &ours::cuMemGetInfo_v2));
static_assert(same(&::cuMemAlloc_v2, &ours::cuMemAlloc_v2));
static_assert(same(&::cuMemFree_v2, &ours::cuMemFree_v2));
static_assert(same(&::cuMemAllocHost_v2, &ours::cuMemAllocHost_v2));
static_assert(same(&::cuMemFreeHost, &ours::cuMemFreeHost));
static_assert(same(&::cuMemcpyHtoD_v2, &ours::cuMemcpyHtoD_v2));
static_assert(same(&::cuMemcpyDtoH_v2, &ours::cuMemcpyDtoH_v2));
static_assert(same(&::cuMemcpyAsync, &ours::cuMemcpyAsync));
static_assert(same(&::cuMemcpyHtoDAsync_v2, &ours::cuMemcpyHtoDAsync_v2));
static_assert(same(&::cuMemcpyDtoHAsync_v2, &ours::cuMemcpyDtoHAsync_v2));
static_assert(same(&::cuMemcpyDtoDAsync_v2, &ours::cuMemcpyDtoDAsync_v2));
static_assert(same(&::cuMemcpyPeerAsync, &ours::cuMemcpyPeerAsync));
static_assert(same(&::cuMemsetD32Async, &ours::cuMemsetD32Async));
static_assert(same(&::cuModuleLoadData, &ours::cuModuleLoadData));
static_assert(same(&::cuModuleLoadDataEx, &ours::cuModuleLoadDataEx));
static_assert(same(&::cuModuleUnload, &ours::cuModuleUnload));
static_assert(same(&::cuModuleGetFunction, &ours::cuModuleGetFunction));
static_assert(same(&::cuModuleGetGlobal_v2, &ours::cuModuleGetGlobal_v2));
static_assert(same(&::cuFuncSetAttribute, &ours::cuFuncSetAttribute));
static_assert(same(&::cuLaunchKernel, &ours::cuLaunchKernel));
static_assert(same(&::cuStreamCreate, &ours::cuStreamCreate));
static_assert(same(&::cuStreamDestroy_v2, &ours::cuStreamDestroy_v2));
static_assert(same(&::cuStreamSynchronize, &ours::cuStreamSynchronize));
static_assert(same(&::cuStreamQuery, &ours::cuStreamQuery));
static_assert(same(&::cuStreamWaitEvent, &ours::cuStreamWaitEvent));
static_assert(same(&::cuEventCreate, &ours::cuEventCreate));
static_assert(same(&::cuEventDestroy_v2, &ours::cuEventDestroy_v2));
static_assert(same(&::cuEventRecord, &ours::cuEventRecord));
static_assert(same(&::cuEventQuery, &ours::cuEventQuery));
static_assert(same(&::cuEventSynchronize, &ours::cuEventSynchronize));
static_assert(same(&::cuEventElapsedTime, &ours::cuEventElapsedTime));
#if CUDA_VERSION >= 13000  // cuda.h has one of the versions at a time
static_assert(same(&::cuEventElapsedTime_v2, &ours::cuEventElapsedTime_v2));
#endif

using standin::Code;
constexpr bool is(Code ours, ::CUresult real) { return static_cast<int>(ours) == static_cast<int>(real); }
static_assert(is(Code::invalid_value, CUDA_ERROR_INVALID_VALUE) &&
              is(Code::out_of_memory, CUDA_ERROR_OUT_OF_MEMORY));
static_assert(is(Code::not_initialized, CUDA_ERROR_NOT_INITIALIZED) &&
              is(Code::no_device, CUDA_ERROR_NO_DEVICE));
static_assert(is(Code::device_unavailable, CUDA_ERROR_DEVICE_UNAVAILABLE));
static_assert(is(Code::invalid_device, CUDA_ERROR_INVALID_DEVICE));
static_assert(is(Code::invalid_context, CUDA_ERROR_INVALID_CONTEXT) &&
              is(Code::invalid_ptx, CUDA_ERROR_INVALID_PTX));
static_assert(is(Code::no_binary_for_gpu, CUDA_ERROR_NO_BINARY_FOR_GPU));
static_assert(is(Code::peer_access_unsupported, CUDA_ERROR_PEER_ACCESS_UNSUPPORTED));
static_assert(is(Code::invalid_handle, CUDA_ERROR_INVALID_HANDLE) &&
              is(Code::not_found, CUDA_ERROR_NOT_FOUND));
static_assert(is(Code::not_ready, CUDA_ERROR_NOT_READY) &&
              is(Code::illegal_address, CUDA_ERROR_ILLEGAL_ADDRESS));
static_assert(is(Code::launch_timeout, CUDA_ERROR_LAUNCH_TIMEOUT) && is(Code::unknown, CUDA_ERROR_UNKNOWN));
static_assert(is(Code::peer_access_already_enabled, CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED));
static_assert(is(Code::misaligned_address, CUDA_ERROR_MISALIGNED_ADDRESS));
static_assert(is(Code::launch_failed, CUDA_ERROR_LAUNCH_FAILED));

// The attribute numbers that stand in the driver as plain numbers.
static_assert(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT == 16 && CU_DEVICE_ATTRIBUTE_PCI_BUS_ID == 33);
static_assert(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR == 75 &&
              CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR == 76);
static_assert(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK == 8 && CU_DEVICE_ATTRIBUTE_WARP_SIZE == 10);
static_assert(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN == 97 &&
              CU_DEVICE_ATTRIBUTE_CLOCK_RATE == 13);
static_assert(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR == 39 &&
              CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING == 41);
static_assert(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE == 38 &&
              CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR == 106);
static_assert(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES == 8);
static_assert(CU_JIT_ERROR_LOG_BUFFER == 5 && CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES == 6);
static_assert(CU_STREAM_NON_BLOCKING == 1 && CU_EVENT_DISABLE_TIMING == 2);

TEST(Signatures, AreThoseOfTheRealHeader) { SUCCEED() << "held while compiling"; }

}  // namespace
#else
TEST(Signatures, AreThoseOfTheRealHeader) { GTEST_SKIP() << "cuda.h was not found when this was compiled"; }
#endif
