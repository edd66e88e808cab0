// What NVRTC makes with options or functions that do not keep the bits is refused, and a barrier that is
// taken out of a kernel is missed.
#include "test/card.h"
#include "test/nvrtc.h"

namespace standin_test {
namespace {

class Refusals : public testing::Test {
 protected:
  void SetUp() override {
    if (!have_nvrtc()) GTEST_SKIP() << "no NVRTC: set NVRTC_LIBRARY to the path of libnvrtc.so.13 or .12";
    configure("devices=1,seed=11");
    use_device(0);
  }

  std::string refusal(const std::string& ptx) {
    CUmodule module = nullptr;
    EXPECT_EQ(cuModuleLoadData(&module, ptx.c_str()), 218) << ptx;
    return standin_last_error();
  }
};

const char* const kProductAndSum = R"(
extern "C" __global__ void k(float* a, float b, float c) { a[threadIdx.x] = a[threadIdx.x] * b + c / b; })";

TEST_F(Refusals, OptionsThatChangeBits) {
  CUmodule module = nullptr;
  EXPECT_EQ(cuModuleLoadData(&module, compile(kProductAndSum).c_str()), 0) << standin_last_error();
  const std::string arch = "--gpu-architecture=compute_90";
  EXPECT_NE(
      refusal(compile_with(kProductAndSum, {arch, "--ftz=true", "--fmad=false"})).find("flushes denormal"),
      std::string::npos);
  EXPECT_NE(
      refusal(compile_with(kProductAndSum, {arch, "--prec-div=false", "--fmad=false"})).find("div.full.f32"),
      std::string::npos)
      << standin_last_error();
  EXPECT_NE(refusal(compile_with(kProductAndSum, {arch, "--use_fast_math"})).find("ptx line"),
            std::string::npos);
}

TEST_F(Refusals, FusedProductsAreSeen) {
  const std::string fused = compile_with(kProductAndSum, {"--gpu-architecture=compute_90", "--fmad=true"});
  const std::vector<float> a{1.0f + 0x1p-12f};
  const auto value = [&](const std::string& ptx) {
    const CUdeviceptr at = upload(a);
    expect_success(launch_and_wait(kernel(ptx, "k"), {1, 1}, at, a[0], -a[0]), "launch");
    return download<float>(at, 1)[0];
  };
  EXPECT_NE(value(fused), value(compile(kProductAndSum)));
}

TEST_F(Refusals, ApproximateFunctions) {
  const std::string ptx = compile(R"(extern "C" __global__ void k(float* a) { *a = expf(*a); })");
  EXPECT_NE(refusal(ptx).find("ptx line"), std::string::npos);
  EXPECT_NE(
      refusal(compile(R"(extern "C" __global__ void k(float* a) { *a = __sinf(*a); })")).find("approximate"),
      std::string::npos);
}

TEST_F(Refusals, CallsAreNamed) {
  const std::string ptx = compile(R"(
__device__ __noinline__ float f(float x) { return x + 1; }
extern "C" __global__ void k(float* a) { *a = f(*a); })");
  EXPECT_NE(refusal(ptx).find("inlined"), std::string::npos) << standin_last_error();
}

std::string tiled(const std::string& first, const std::string& second) {
  return R"(extern "C" __global__ void k(const float* a, float* c) {
  __shared__ float t[64];
  float sum = 0;
  for (int round = 0; round < 3; ++round) {
    t[threadIdx.x] = a[round * 64 + threadIdx.x];
    )" + first +
         R"(
    for (int i = 0; i < 64; ++i) sum = __fmaf_rn(t[i], t[63 - i], sum);
    )" + second +
         R"(
  }
  c[threadIdx.x] = sum;
})";
}

TEST_F(Refusals, AMissingBarrierIsNamed) {
  const std::string barrier = "__syncthreads();";
  const std::vector<float> a(192, 1.5f);
  const auto run = [&](const std::string& source) {
    configure("devices=1,seed=11");
    use_device(0);
    return launch_and_wait(kernel(compile(source), "k"), {1, 64}, upload(a), allocate<float>(64));
  };
  EXPECT_EQ(run(tiled(barrier, barrier)), 0) << standin_last_error();
  for (const std::string& source : {tiled("", barrier), tiled(barrier, "")}) {
    EXPECT_EQ(run(source), 719);
    EXPECT_NE(std::string(standin_last_error()).find("shared memory: thread"), std::string::npos)
        << standin_last_error();
  }
  EXPECT_NE(std::string(standin_last_error()).find("a barrier is missing"), std::string::npos)
      << standin_last_error();
}

TEST_F(Refusals, AForgottenBarrierOnDeviceMemoryGivesWrongNumbers) {
  const std::string ptx = compile(R"(
extern "C" __global__ void k(volatile int* a) {
  a[threadIdx.x] = threadIdx.x + 1;
  int there = a[(threadIdx.x + 32) % 64];
  a[64 + threadIdx.x] = there;
})");
  const CUdeviceptr a = upload(std::vector<int>(128, 0));
  ASSERT_EQ(launch_and_wait(kernel(ptx, "k"), {1, 64}, a), 0);
  const std::vector<int> seen = download<int>(a, 128);
  int wrong = 0;
  for (int i = 0; i < 64; ++i) wrong += seen[static_cast<std::size_t>(64 + i)] != (i + 32) % 64 + 1 ? 1 : 0;
  EXPECT_GT(wrong, 0);
}

}  // namespace
}  // namespace standin_test
