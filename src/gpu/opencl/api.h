// The part of OpenCL 1.2 that is used, declared by hand: the library is opened at run time, so that one
// binary starts anywhere and building it needs no OpenCL package. api_test.cpp holds every line against the
// real header where that is installed.
#pragma once
#include <cstddef>
#include <cstdint>

namespace lockstep::gpu::opencl {

using Int = std::int32_t;
using Uint = std::uint32_t;
using Bitfield = std::uint64_t;
using Property = std::intptr_t;

using PlatformId = struct _cl_platform_id*;
using DeviceId = struct _cl_device_id*;
using Context = struct _cl_context*;
using CommandQueue = struct _cl_command_queue*;
using Mem = struct _cl_mem*;
using Program = struct _cl_program*;
using Kernel = struct _cl_kernel*;
using ClEvent = struct _cl_event*;

struct BufferRegion {
  std::size_t origin, size;
};

inline constexpr Int kSuccess = 0;
inline constexpr Int kDeviceNotFound = -1;
inline constexpr Int kPlatformNotFound = -1001;

inline constexpr Bitfield kDeviceTypeCpu = 1 << 1, kDeviceTypeGpu = 1 << 2, kDeviceTypeAll = 0xFFFFFFFF;
inline constexpr Uint kPlatformVersion = 0x0901;
inline constexpr Uint kPlatformName = 0x0902;
inline constexpr Uint kDeviceType = 0x1000;
inline constexpr Uint kDeviceMaxComputeUnits = 0x1002;
inline constexpr Uint kDeviceMaxMemAllocSize = 0x1010;
inline constexpr Uint kDeviceGlobalMemSize = 0x101F;
inline constexpr Uint kDeviceName = 0x102B;
inline constexpr Uint kDriverVersion = 0x102D;
inline constexpr Uint kDeviceVersion = 0x102F;
inline constexpr Uint kDeviceNativeVectorWidthFloat = 0x103A;

inline constexpr Property kDevicePartitionByCounts = 0x1087, kDevicePartitionByCountsListEnd = 0;
inline constexpr Property kContextPlatform = 0x1084;
inline constexpr Bitfield kQueueProfilingEnable = 1 << 1;
inline constexpr Bitfield kMemReadWrite = 1 << 0, kMemAllocHostPtr = 1 << 4;
inline constexpr Uint kBufferCreateTypeRegion = 0x1220;
inline constexpr Bitfield kMapRead = 1 << 0, kMapWrite = 1 << 1;
inline constexpr Uint kProgramBinarySizes = 0x1165, kProgramBinaries = 0x1166;
inline constexpr Uint kProgramBuildLog = 0x1183;
inline constexpr Uint kProfilingCommandStart = 0x1282, kProfilingCommandEnd = 0x1283;

// The functions, by their names.
#define LOCKSTEP_OPENCL_FUNCTIONS(F)                                                                     \
  F(GetPlatformIDs, Int(Uint, PlatformId*, Uint*))                                                       \
  F(GetPlatformInfo, Int(PlatformId, Uint, std::size_t, void*, std::size_t*))                            \
  F(GetDeviceIDs, Int(PlatformId, Bitfield, Uint, DeviceId*, Uint*))                                     \
  F(GetDeviceInfo, Int(DeviceId, Uint, std::size_t, void*, std::size_t*))                                \
  F(CreateSubDevices, Int(DeviceId, const Property*, Uint, DeviceId*, Uint*))                            \
  F(ReleaseDevice, Int(DeviceId))                                                                        \
  F(CreateContext, Context(const Property*, Uint, const DeviceId*,                                       \
                           void (*)(const char*, const void*, std::size_t, void*), void*, Int*))         \
  F(ReleaseContext, Int(Context))                                                                        \
  F(CreateCommandQueue, CommandQueue(Context, DeviceId, Bitfield, Int*))                                 \
  F(ReleaseCommandQueue, Int(CommandQueue))                                                              \
  F(CreateBuffer, Mem(Context, Bitfield, std::size_t, void*, Int*))                                      \
  F(CreateSubBuffer, Mem(Mem, Bitfield, Uint, const void*, Int*))                                        \
  F(ReleaseMemObject, Int(Mem))                                                                          \
  F(CreateProgramWithSource, Program(Context, Uint, const char**, const std::size_t*, Int*))             \
  F(CreateProgramWithBinary,                                                                             \
    Program(Context, Uint, const DeviceId*, const std::size_t*, const unsigned char**, Int*, Int*))      \
  F(BuildProgram, Int(Program, Uint, const DeviceId*, const char*, void (*)(Program, void*), void*))     \
  F(GetProgramInfo, Int(Program, Uint, std::size_t, void*, std::size_t*))                                \
  F(GetProgramBuildInfo, Int(Program, DeviceId, Uint, std::size_t, void*, std::size_t*))                 \
  F(ReleaseProgram, Int(Program))                                                                        \
  F(CreateKernel, Kernel(Program, const char*, Int*))                                                    \
  F(ReleaseKernel, Int(Kernel))                                                                          \
  F(SetKernelArg, Int(Kernel, Uint, std::size_t, const void*))                                           \
  F(EnqueueNDRangeKernel, Int(CommandQueue, Kernel, Uint, const std::size_t*, const std::size_t*,        \
                              const std::size_t*, Uint, const ClEvent*, ClEvent*))                       \
  F(EnqueueReadBuffer,                                                                                   \
    Int(CommandQueue, Mem, Uint, std::size_t, std::size_t, void*, Uint, const ClEvent*, ClEvent*))       \
  F(EnqueueWriteBuffer,                                                                                  \
    Int(CommandQueue, Mem, Uint, std::size_t, std::size_t, const void*, Uint, const ClEvent*, ClEvent*)) \
  F(EnqueueMapBuffer, void*(CommandQueue, Mem, Uint, Bitfield, std::size_t, std::size_t, Uint,           \
                            const ClEvent*, ClEvent*, Int*))                                             \
  F(EnqueueUnmapMemObject, Int(CommandQueue, Mem, void*, Uint, const ClEvent*, ClEvent*))                \
  F(EnqueueMarkerWithWaitList, Int(CommandQueue, Uint, const ClEvent*, ClEvent*))                        \
  F(EnqueueBarrierWithWaitList, Int(CommandQueue, Uint, const ClEvent*, ClEvent*))                       \
  F(Flush, Int(CommandQueue))                                                                            \
  F(Finish, Int(CommandQueue))                                                                           \
  F(WaitForEvents, Int(Uint, const ClEvent*))                                                            \
  F(GetEventProfilingInfo, Int(ClEvent, Uint, std::size_t, void*, std::size_t*))                         \
  F(ReleaseEvent, Int(ClEvent))

// Pointers to the functions of an opened library.
struct Api {
#define LOCKSTEP_OPENCL_POINTER(name, ...) \
  using name##Function = __VA_ARGS__;      \
  name##Function* name = nullptr;
  LOCKSTEP_OPENCL_FUNCTIONS(LOCKSTEP_OPENCL_POINTER)
#undef LOCKSTEP_OPENCL_POINTER
};

// The name of an error, as the specification spells it.
const char* error_name(Int error);

}  // namespace lockstep::gpu::opencl
