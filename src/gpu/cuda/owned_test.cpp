// A driver that cannot be made gives back what it has taken: the context that it shares goes on.
#include "gpu/cuda/owned.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/refusal_for_test.h"
#include "gpu/cuda/cuda_driver.h"

namespace lockstep::gpu::cuda {
namespace {

constexpr Result kOutOfMemory = 2;

// Of the functions below, which give a context and some streams.
char object;
int contexts = 0, streams = 0, most_streams = 0;

Result name_error(Result, const char** name) { return *name = "CUDA_ERROR_OUT_OF_MEMORY", kSuccess; }
Result retain(Context* context, Ordinal) {
  ++contexts;
  *context = reinterpret_cast<Context>(&object);
  return kSuccess;
}
Result release(Ordinal) { return --contexts, kSuccess; }
Result use(Context) { return contexts > 0 ? kSuccess : kOutOfMemory; }
Result create_stream(Stream* stream, unsigned) {
  if (streams == most_streams) return kOutOfMemory;
  ++streams;
  *stream = reinterpret_cast<Stream>(&object);
  return kSuccess;
}
Result destroy_stream(Stream) { return --streams, kSuccess; }

std::string refusal_with(int available_streams) {
  most_streams = available_streams;
  Api api;
  api.GetErrorName = name_error;
  api.DevicePrimaryCtxRetain = retain;
  api.DevicePrimaryCtxRelease = release;
  api.CtxSetCurrent = use;
  api.StreamCreate = create_stream;
  api.StreamDestroy = destroy_stream;
  Found found;
  found.facts.name = "cuda:0";
  return refusal_of(Fault::device, [&] {
    make_cuda_driver(std::make_shared<const Library>(api, 13000),
                     {.found = found, .nvrtc_library = "/nowhere/libnvrtc.so"});
  });
}

TEST(CudaOwned, GoesBackIfThereAreTooFewStreams) {
  EXPECT_EQ(refusal_with(1), "cuda:0: cuStreamCreate failed: CUDA_ERROR_OUT_OF_MEMORY");
  EXPECT_EQ(streams, 0);
  EXPECT_EQ(contexts, 0);
}

TEST(CudaOwned, GoesBackIfThereAreNoKernels) {
  EXPECT_THAT(refusal_with(kQueues), testing::HasSubstr("CUDA's compiler is missing"));
  EXPECT_EQ(streams, 0);
  EXPECT_EQ(contexts, 0);
}

}  // namespace
}  // namespace lockstep::gpu::cuda
