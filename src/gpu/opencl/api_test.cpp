// The hand-written declarations against Khronos' header, where it is installed; the compiler does the work.
#include "gpu/opencl/api.h"

#include <gtest/gtest.h>

#include "gpu/same_declaration_for_test.h"

#if __has_include(<CL/cl.h>)
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <CL/cl_ext.h>

namespace lockstep::gpu {

template <>
inline constexpr bool kSameHandle<opencl::_cl_platform_id, ::_cl_platform_id> = true;
template <>
inline constexpr bool kSameHandle<opencl::_cl_device_id, ::_cl_device_id> = true;
template <>
inline constexpr bool kSameHandle<opencl::_cl_context, ::_cl_context> = true;
template <>
inline constexpr bool kSameHandle<opencl::_cl_command_queue, ::_cl_command_queue> = true;
template <>
inline constexpr bool kSameHandle<opencl::_cl_mem, ::_cl_mem> = true;
template <>
inline constexpr bool kSameHandle<opencl::_cl_program, ::_cl_program> = true;
template <>
inline constexpr bool kSameHandle<opencl::_cl_kernel, ::_cl_kernel> = true;
template <>
inline constexpr bool kSameHandle<opencl::_cl_event, ::_cl_event> = true;

namespace opencl {
namespace {

#define LOCKSTEP_SAME(name, ...) \
  static_assert(SameDeclaration<Api::name##Function, decltype(::cl##name)>::value, "cl" #name);
LOCKSTEP_OPENCL_FUNCTIONS(LOCKSTEP_SAME)

static_assert(kSuccess == CL_SUCCESS);
static_assert(kDeviceNotFound == CL_DEVICE_NOT_FOUND);
static_assert(kPlatformNotFound == CL_PLATFORM_NOT_FOUND_KHR);
static_assert(kDeviceTypeCpu == CL_DEVICE_TYPE_CPU);
static_assert(kDeviceTypeGpu == CL_DEVICE_TYPE_GPU);
static_assert(kDeviceTypeAll == CL_DEVICE_TYPE_ALL);
static_assert(kPlatformVersion == CL_PLATFORM_VERSION);
static_assert(kPlatformName == CL_PLATFORM_NAME);
static_assert(kDeviceType == CL_DEVICE_TYPE);
static_assert(kDeviceMaxComputeUnits == CL_DEVICE_MAX_COMPUTE_UNITS);
static_assert(kDeviceMaxMemAllocSize == CL_DEVICE_MAX_MEM_ALLOC_SIZE);
static_assert(kDeviceGlobalMemSize == CL_DEVICE_GLOBAL_MEM_SIZE);
static_assert(kDeviceName == CL_DEVICE_NAME);
static_assert(kDriverVersion == CL_DRIVER_VERSION);
static_assert(kDeviceVersion == CL_DEVICE_VERSION);
static_assert(kDeviceNativeVectorWidthFloat == CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT);
static_assert(kDevicePartitionByCounts == CL_DEVICE_PARTITION_BY_COUNTS);
static_assert(kDevicePartitionByCountsListEnd == CL_DEVICE_PARTITION_BY_COUNTS_LIST_END);
static_assert(kContextPlatform == CL_CONTEXT_PLATFORM);
static_assert(kQueueProfilingEnable == CL_QUEUE_PROFILING_ENABLE);
static_assert(kMemReadWrite == CL_MEM_READ_WRITE);
static_assert(kMemAllocHostPtr == CL_MEM_ALLOC_HOST_PTR);
static_assert(kBufferCreateTypeRegion == CL_BUFFER_CREATE_TYPE_REGION);
static_assert(kMapRead == CL_MAP_READ);
static_assert(kMapWrite == CL_MAP_WRITE);
static_assert(kProgramBinarySizes == CL_PROGRAM_BINARY_SIZES);
static_assert(kProgramBinaries == CL_PROGRAM_BINARIES);
static_assert(kProgramBuildLog == CL_PROGRAM_BUILD_LOG);
static_assert(kProfilingCommandStart == CL_PROFILING_COMMAND_START);
static_assert(kProfilingCommandEnd == CL_PROFILING_COMMAND_END);

static_assert(sizeof(BufferRegion) == sizeof(cl_buffer_region));
static_assert(offsetof(BufferRegion, origin) == offsetof(cl_buffer_region, origin));
static_assert(offsetof(BufferRegion, size) == offsetof(cl_buffer_region, size));

static_assert(!SameDeclaration<Int(Context), decltype(::clReleaseKernel)>::value, "a difference is seen");

TEST(OpenClApi, NamesErrorsAsTheHeaderDoes) {
#define LOCKSTEP_SAME_NAME(name) EXPECT_STREQ(error_name(name), #name)
  LOCKSTEP_SAME_NAME(CL_DEVICE_NOT_FOUND);
  LOCKSTEP_SAME_NAME(CL_DEVICE_NOT_AVAILABLE);
  LOCKSTEP_SAME_NAME(CL_COMPILER_NOT_AVAILABLE);
  LOCKSTEP_SAME_NAME(CL_MEM_OBJECT_ALLOCATION_FAILURE);
  LOCKSTEP_SAME_NAME(CL_OUT_OF_RESOURCES);
  LOCKSTEP_SAME_NAME(CL_OUT_OF_HOST_MEMORY);
  LOCKSTEP_SAME_NAME(CL_PROFILING_INFO_NOT_AVAILABLE);
  LOCKSTEP_SAME_NAME(CL_BUILD_PROGRAM_FAILURE);
  LOCKSTEP_SAME_NAME(CL_MAP_FAILURE);
  LOCKSTEP_SAME_NAME(CL_MISALIGNED_SUB_BUFFER_OFFSET);
  LOCKSTEP_SAME_NAME(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  LOCKSTEP_SAME_NAME(CL_DEVICE_PARTITION_FAILED);
  LOCKSTEP_SAME_NAME(CL_INVALID_VALUE);
  LOCKSTEP_SAME_NAME(CL_INVALID_DEVICE);
  LOCKSTEP_SAME_NAME(CL_INVALID_CONTEXT);
  LOCKSTEP_SAME_NAME(CL_INVALID_COMMAND_QUEUE);
  LOCKSTEP_SAME_NAME(CL_INVALID_MEM_OBJECT);
  LOCKSTEP_SAME_NAME(CL_INVALID_PROGRAM_EXECUTABLE);
  LOCKSTEP_SAME_NAME(CL_INVALID_KERNEL_NAME);
  LOCKSTEP_SAME_NAME(CL_INVALID_ARG_INDEX);
  LOCKSTEP_SAME_NAME(CL_INVALID_ARG_VALUE);
  LOCKSTEP_SAME_NAME(CL_INVALID_ARG_SIZE);
  LOCKSTEP_SAME_NAME(CL_INVALID_KERNEL_ARGS);
  LOCKSTEP_SAME_NAME(CL_INVALID_WORK_GROUP_SIZE);
  LOCKSTEP_SAME_NAME(CL_INVALID_WORK_ITEM_SIZE);
  LOCKSTEP_SAME_NAME(CL_INVALID_EVENT_WAIT_LIST);
  LOCKSTEP_SAME_NAME(CL_INVALID_EVENT);
  LOCKSTEP_SAME_NAME(CL_INVALID_BUFFER_SIZE);
  LOCKSTEP_SAME_NAME(CL_INVALID_GLOBAL_WORK_SIZE);
  LOCKSTEP_SAME_NAME(CL_INVALID_DEVICE_PARTITION_COUNT);
  LOCKSTEP_SAME_NAME(CL_PLATFORM_NOT_FOUND_KHR);
}

}  // namespace
}  // namespace opencl
}  // namespace lockstep::gpu

#else

TEST(OpenClApi, NamesErrorsAsTheHeaderDoes) { GTEST_SKIP() << "there is no CL/cl.h to compare with"; }

#endif
