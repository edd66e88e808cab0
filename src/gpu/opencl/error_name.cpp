#include <array>

#include "gpu/opencl/api.h"

namespace lockstep::gpu::opencl {

const char* error_name(Int error) {
  struct Name {
    Int error;
    const char* name;
  };
  static constexpr std::array kNames{
      Name{-1, "CL_DEVICE_NOT_FOUND"},
      Name{-2, "CL_DEVICE_NOT_AVAILABLE"},
      Name{-3, "CL_COMPILER_NOT_AVAILABLE"},
      Name{-4, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
      Name{-5, "CL_OUT_OF_RESOURCES"},
      Name{-6, "CL_OUT_OF_HOST_MEMORY"},
      Name{-7, "CL_PROFILING_INFO_NOT_AVAILABLE"},
      Name{-11, "CL_BUILD_PROGRAM_FAILURE"},
      Name{-12, "CL_MAP_FAILURE"},
      Name{-13, "CL_MISALIGNED_SUB_BUFFER_OFFSET"},
      Name{-14, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"},
      Name{-18, "CL_DEVICE_PARTITION_FAILED"},
      Name{-30, "CL_INVALID_VALUE"},
      Name{-33, "CL_INVALID_DEVICE"},
      Name{-34, "CL_INVALID_CONTEXT"},
      Name{-36, "CL_INVALID_COMMAND_QUEUE"},
      Name{-38, "CL_INVALID_MEM_OBJECT"},
      Name{-45, "CL_INVALID_PROGRAM_EXECUTABLE"},
      Name{-46, "CL_INVALID_KERNEL_NAME"},
      Name{-49, "CL_INVALID_ARG_INDEX"},
      Name{-50, "CL_INVALID_ARG_VALUE"},
      Name{-51, "CL_INVALID_ARG_SIZE"},
      Name{-52, "CL_INVALID_KERNEL_ARGS"},
      Name{-54, "CL_INVALID_WORK_GROUP_SIZE"},
      Name{-55, "CL_INVALID_WORK_ITEM_SIZE"},
      Name{-57, "CL_INVALID_EVENT_WAIT_LIST"},
      Name{-58, "CL_INVALID_EVENT"},
      Name{-61, "CL_INVALID_BUFFER_SIZE"},
      Name{-63, "CL_INVALID_GLOBAL_WORK_SIZE"},
      Name{-68, "CL_INVALID_DEVICE_PARTITION_COUNT"},
      Name{-1001, "CL_PLATFORM_NOT_FOUND_KHR"},
  };
  for (const Name& known : kNames) {
    if (known.error == error) return known.name;
  }
  return "an error that OpenCL 1.2 does not name";
}

}  // namespace lockstep::gpu::opencl
