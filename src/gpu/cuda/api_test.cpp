// The hand-written declarations against NVIDIA's headers, where those are installed; the compiler does the
// work.
#include "gpu/cuda/api.h"

#include <string_view>

#include <gtest/gtest.h>

#include "gpu/same_declaration_for_test.h"

#if __has_include(<cuda.h>) && __has_include(<nvrtc.h>)
#include <cuda.h>
#include <nvrtc.h>

namespace lockstep::gpu {

template <>
inline constexpr bool kSameHandle<cuda::CUctx_st, ::CUctx_st> = true;
template <>
inline constexpr bool kSameHandle<cuda::CUmod_st, ::CUmod_st> = true;
template <>
inline constexpr bool kSameHandle<cuda::CUfunc_st, ::CUfunc_st> = true;
template <>
inline constexpr bool kSameHandle<cuda::CUstream_st, ::CUstream_st> = true;
template <>
inline constexpr bool kSameHandle<cuda::CUevent_st, ::CUevent_st> = true;
template <>
inline constexpr bool kSameHandle<cuda::_nvrtcProgram, ::_nvrtcProgram> = true;

namespace cuda {
namespace {

// The header turns a plain name into the symbol that its declaration belongs to. Later ones may turn it into
// another; the one we ask for is then compared no more, but stays in the library.
// Newer drivers have another symbol for newer programs; the older one is in all of them.
constexpr std::string_view kOlderSymbol = "cuEventElapsedTime";
// NOLINTBEGIN(bugprone-macro-parentheses): they would be part of the text
#define LOCKSTEP_TEXT_OF(symbol) #symbol
#define LOCKSTEP_EXPANDED(symbol) LOCKSTEP_TEXT_OF(symbol)
#define LOCKSTEP_SAME(prefix, api, name, symbol)                                                        \
  static_assert(std::string_view(LOCKSTEP_EXPANDED(prefix##name)) == symbol || CUDA_VERSION >= 14000 || \
                    std::string_view(symbol) == kOlderSymbol,                                           \
                symbol);                                                                                \
  static_assert(std::string_view(LOCKSTEP_EXPANDED(prefix##name)) != symbol ||                          \
                    SameDeclaration<api::name##Function, decltype(::prefix##name)>::value,              \
                symbol);
// NOLINTEND(bugprone-macro-parentheses)

TEST(CudaApi, IsDeclaredAsInTheHeader) {
#define LOCKSTEP_SAME_CUDA(name, symbol, ...) LOCKSTEP_SAME(cu, Api, name, symbol)
#define LOCKSTEP_SAME_NVRTC(name, symbol, ...) LOCKSTEP_SAME(nvrtc, NvrtcApi, name, symbol)
  LOCKSTEP_CUDA_FUNCTIONS(LOCKSTEP_SAME_CUDA)
  LOCKSTEP_NVRTC_FUNCTIONS(LOCKSTEP_SAME_NVRTC)

  static_assert(kSuccess == CUDA_SUCCESS && kSuccess == static_cast<int>(NVRTC_SUCCESS));
  static_assert(kPeerAccessAlreadyEnabled == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
  static_assert(kUnsupportedPtxVersion == CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
  static_assert(kMultiprocessorCount == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  static_assert(kCapabilityMajor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  static_assert(kCapabilityMinor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  static_assert(kStreamNonBlocking == CU_STREAM_NON_BLOCKING);
  static_assert(kEventDefault == CU_EVENT_DEFAULT && kEventDisableTiming == CU_EVENT_DISABLE_TIMING);
  static_assert(kJitErrorLogBuffer == CU_JIT_ERROR_LOG_BUFFER);
  static_assert(kJitErrorLogBufferSizeBytes == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
}

TEST(CudaApi, TheComparisonSeesADifference) {
  static_assert(!SameDeclaration<Result(Stream), decltype(::cuEventSynchronize)>::value);
  static_assert(!SameDeclaration<Result(DevicePointer*, int), decltype(::cuMemAlloc)>::value);
  static_assert(!SameDeclaration<Result(DevicePointer*), decltype(::cuMemAlloc)>::value);
  static_assert(!SameDeclaration<Result(DevicePointer, std::size_t), decltype(::cuMemAlloc)>::value);
}

}  // namespace
}  // namespace cuda
}  // namespace lockstep::gpu

#else

TEST(CudaApi, IsDeclaredAsInTheHeader) { GTEST_SKIP() << "there is no cuda.h and nvrtc.h to compare with"; }

#endif
