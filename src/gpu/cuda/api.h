// The parts of CUDA's driver and of NVRTC that are used, declared by hand: the libraries are opened at run
// time, so that one binary starts anywhere and building it needs no CUDA toolkit. api_test.cpp holds every
// line against the real headers where those are installed.
#pragma once
#include <cstddef>

namespace lockstep::gpu::cuda {

// ---- the driver

using Result = int;
using Ordinal = int;  // of a device
using DevicePointer = unsigned long long;
using Context = struct CUctx_st*;
using Module = struct CUmod_st*;
using Function = struct CUfunc_st*;
using Stream = struct CUstream_st*;
using CuEvent = struct CUevent_st*;

inline constexpr Result kSuccess = 0;
// PTX cannot be compiled: the driver has no compiler, PTX is too new for it, or it was told not to.
inline constexpr Result kJitCompilerNotFound = 221, kUnsupportedPtxVersion = 222,
                        kJitCompilationDisabled = 223;
inline constexpr Result kPeerAccessAlreadyEnabled = 704;

inline constexpr int kMultiprocessorCount = 16, kCapabilityMajor = 75, kCapabilityMinor = 76;
inline constexpr unsigned kStreamNonBlocking = 1;
inline constexpr unsigned kEventDefault = 0, kEventDisableTiming = 2;
inline constexpr int kJitErrorLogBuffer = 5, kJitErrorLogBufferSizeBytes = 6;

// The functions: their names in CUDA's documents, and in the library, which keeps older ones for older
// programs.
#define LOCKSTEP_CUDA_FUNCTIONS(F)                                                                         \
  F(GetErrorName, "cuGetErrorName", Result(Result, const char**))                                          \
  F(Init, "cuInit", Result(unsigned))                                                                      \
  F(DriverGetVersion, "cuDriverGetVersion", Result(int*))                                                  \
  F(DeviceGetCount, "cuDeviceGetCount", Result(int*))                                                      \
  F(DeviceGet, "cuDeviceGet", Result(Ordinal*, int))                                                       \
  F(DeviceGetName, "cuDeviceGetName", Result(char*, int, Ordinal))                                         \
  F(DeviceGetPCIBusId, "cuDeviceGetPCIBusId", Result(char*, int, Ordinal))                                 \
  F(DeviceTotalMem, "cuDeviceTotalMem_v2", Result(std::size_t*, Ordinal))                                  \
  F(MemGetInfo, "cuMemGetInfo_v2", Result(std::size_t*, std::size_t*))                                     \
  F(DeviceGetAttribute, "cuDeviceGetAttribute", Result(int*, int, Ordinal))                                \
  F(DevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", Result(Context*, Ordinal))                         \
  F(DevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", Result(Ordinal))                              \
  F(CtxSetCurrent, "cuCtxSetCurrent", Result(Context))                                                     \
  F(MemAlloc, "cuMemAlloc_v2", Result(DevicePointer*, std::size_t))                                        \
  F(MemFree, "cuMemFree_v2", Result(DevicePointer))                                                        \
  F(MemAllocHost, "cuMemAllocHost_v2", Result(void**, std::size_t))                                        \
  F(MemFreeHost, "cuMemFreeHost", Result(void*))                                                           \
  F(MemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2", Result(DevicePointer, const void*, std::size_t, Stream))      \
  F(MemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2", Result(void*, DevicePointer, std::size_t, Stream))            \
  F(MemcpyAsync, "cuMemcpyAsync", Result(DevicePointer, DevicePointer, std::size_t, Stream))               \
  F(DeviceCanAccessPeer, "cuDeviceCanAccessPeer", Result(int*, Ordinal, Ordinal))                          \
  F(CtxEnablePeerAccess, "cuCtxEnablePeerAccess", Result(Context, unsigned))                               \
  F(ModuleLoadDataEx, "cuModuleLoadDataEx", Result(Module*, const void*, unsigned, int*, void**))          \
  F(ModuleUnload, "cuModuleUnload", Result(Module))                                                        \
  F(ModuleGetFunction, "cuModuleGetFunction", Result(Function*, Module, const char*))                      \
  F(LaunchKernel, "cuLaunchKernel",                                                                        \
    Result(Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream, void**, \
           void**))                                                                                        \
  F(StreamCreate, "cuStreamCreate", Result(Stream*, unsigned))                                             \
  F(StreamDestroy, "cuStreamDestroy_v2", Result(Stream))                                                   \
  F(StreamSynchronize, "cuStreamSynchronize", Result(Stream))                                              \
  F(StreamWaitEvent, "cuStreamWaitEvent", Result(Stream, CuEvent, unsigned))                               \
  F(EventCreate, "cuEventCreate", Result(CuEvent*, unsigned))                                              \
  F(EventDestroy, "cuEventDestroy_v2", Result(CuEvent))                                                    \
  F(EventRecord, "cuEventRecord", Result(CuEvent, Stream))                                                 \
  F(EventSynchronize, "cuEventSynchronize", Result(CuEvent))                                               \
  F(EventElapsedTime, "cuEventElapsedTime", Result(float*, CuEvent, CuEvent))

// ---- NVRTC

using NvrtcProgram = struct _nvrtcProgram*;

#define LOCKSTEP_NVRTC_FUNCTIONS(F)                                                               \
  F(GetErrorString, "nvrtcGetErrorString", const char*(Result))                                   \
  F(Version, "nvrtcVersion", Result(int*, int*))                                                  \
  F(GetNumSupportedArchs, "nvrtcGetNumSupportedArchs", Result(int*))                              \
  F(GetSupportedArchs, "nvrtcGetSupportedArchs", Result(int*))                                    \
  F(CreateProgram, "nvrtcCreateProgram",                                                          \
    Result(NvrtcProgram*, const char*, const char*, int, const char* const*, const char* const*)) \
  F(DestroyProgram, "nvrtcDestroyProgram", Result(NvrtcProgram*))                                 \
  F(CompileProgram, "nvrtcCompileProgram", Result(NvrtcProgram, int, const char* const*))         \
  F(GetPTXSize, "nvrtcGetPTXSize", Result(NvrtcProgram, std::size_t*))                            \
  F(GetPTX, "nvrtcGetPTX", Result(NvrtcProgram, char*))                                           \
  F(GetCUBINSize, "nvrtcGetCUBINSize", Result(NvrtcProgram, std::size_t*))                        \
  F(GetCUBIN, "nvrtcGetCUBIN", Result(NvrtcProgram, char*))                                       \
  F(GetProgramLogSize, "nvrtcGetProgramLogSize", Result(NvrtcProgram, std::size_t*))              \
  F(GetProgramLog, "nvrtcGetProgramLog", Result(NvrtcProgram, char*))

// Pointers to the functions of an opened library.
#define LOCKSTEP_CUDA_POINTER(name, symbol, ...) \
  using name##Function = __VA_ARGS__;            \
  name##Function* name = nullptr;
struct Api {
  LOCKSTEP_CUDA_FUNCTIONS(LOCKSTEP_CUDA_POINTER)
};
struct NvrtcApi {
  LOCKSTEP_NVRTC_FUNCTIONS(LOCKSTEP_CUDA_POINTER)
};
#undef LOCKSTEP_CUDA_POINTER

}  // namespace lockstep::gpu::cuda
