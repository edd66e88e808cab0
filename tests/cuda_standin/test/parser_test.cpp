// The committed PTX runs without a compiler at hand.
#include "test/card.h"
#include "test/fixture.h"

namespace standin_test {
namespace {

class Parser : public testing::Test {
 protected:
  void SetUp() override {
    configure("devices=1,seed=4");
    use_device(0);
  }

  std::string refusal(const std::string& ptx) {
    CUmodule module = nullptr;
    const CUresult result = cuModuleLoadData(&module, ptx.c_str());
    EXPECT_EQ(result, 218) << "CUDA_ERROR_INVALID_PTX was expected for\n" << ptx;
    return result == 218 ? standin_last_error() : "";
  }
};

TEST_F(Parser, RunsASum) {
  const std::vector<float> a{1, 2, 3, 4, 5};
  const std::vector<float> b{0.5f, 0.25f, 1e-40f, -4, 1e30f};
  const CUdeviceptr c = allocate<float>(5);
  ASSERT_EQ(launch_and_wait(kernel(fixture("add.ptx"), "add"), {2, 4}, upload(a), upload(b), c, 5), 0)
      << standin_last_error();
  EXPECT_EQ(download<float>(c, 5), (std::vector<float>{1.5f, 2.25f, 3, 0, 1e30f}));
}

TEST_F(Parser, RunsWhatADeclarationCanSay) {
  struct Options {
    std::uint64_t unused = 0;
    unsigned add = 5;
    unsigned late = 1000000;
  } const options;
  const CUdeviceptr out = allocate<unsigned>(32);
  ASSERT_EQ(launch_and_wait(kernel(fixture("tile.ptx"), "tile"), {1, 32, 128}, out, options), 0)
      << standin_last_error();
  std::vector<unsigned> expected;
  for (unsigned i = 0; i < 32; ++i) {
    const unsigned neighbour = i ^ 1u;
    const unsigned index = neighbour % 4 % 3;
    const unsigned value = index + 1 + (index == 1 ? 100 : 0);
    expected.push_back(value * 1000 + 5 + 16 + 7 + (i < 16 ? 1000000 : 0));
  }
  EXPECT_EQ(download<unsigned>(out, 32), expected);
}

TEST_F(Parser, GivesVariablesOfAModule) {
  const CUmodule module = load(fixture("tile.ptx"));
  CUdeviceptr counter = 0;
  size_t bytes = 0;
  ASSERT_EQ(cuModuleGetGlobal_v2(&counter, &bytes, module, "counter"), 0);
  EXPECT_EQ(bytes, 8u);
  EXPECT_EQ(download<unsigned>(counter, 2), (std::vector<unsigned>{7, 16}));
  EXPECT_EQ(cuModuleGetGlobal_v2(&counter, &bytes, module, "nothing"), 500);
  CUfunction function = nullptr;
  EXPECT_EQ(cuModuleGetFunction(&function, module, "nothing"), 500);
}

TEST_F(Parser, NamesTheLineOfWhatItDoesNotKnow) {
  EXPECT_NE(refusal(ptx_of("\n\nfrobnicate.u32 %r1, %r2;")).find("ptx line 12, `frobnicate.u32`"),
            std::string::npos)
      << standin_last_error();
  EXPECT_NE(refusal(ptx_of("add.s32 %r1, %nothing, 1;")).find("%nothing"), std::string::npos);
  EXPECT_NE(refusal(ptx_of("bra nowhere;")).find("nowhere"), std::string::npos);
  EXPECT_NE(refusal(ptx_of("add.s32 %r1, %rd1, 1;")).find("64 bits, not 32"), std::string::npos);
  EXPECT_NE(refusal(ptx_of("call (%r1), f, (%r2);")).find("call"), std::string::npos);
  EXPECT_NE(refusal(ptx_of("", ".func f() { ret; }")).find(".func"), std::string::npos);
  EXPECT_NE(refusal(ptx_of("bar.sync 1;")).find("barrier 0"), std::string::npos);
  EXPECT_NE(refusal("hello").find("ptx line 1"), std::string::npos);
  EXPECT_NE(refusal("").find("no PTX"), std::string::npos);
  EXPECT_NE(refusal(ptx_of("{")).find("no closing brace"), std::string::npos);
}

TEST_F(Parser, RefusesArithmeticThatDiffersBetweenDevices) {
  EXPECT_NE(refusal(ptx_of("add.f32 %f1, %f2, %f3;")).find("may fuse"), std::string::npos);
  EXPECT_NE(refusal(ptx_of("mul.f32 %f1, %f2, %f3;")).find("may fuse"), std::string::npos);
  EXPECT_NE(refusal(ptx_of("fma.rz.f32 %f1, %f2, %f3, %f4;")).find("rounding to nearest"), std::string::npos);
  EXPECT_NE(refusal(ptx_of("add.rp.f32 %f1, %f2, %f3;")).find("rounding to nearest"), std::string::npos);
  EXPECT_NE(refusal(ptx_of("cvt.rz.f32.s32 %f1, %r3;")).find("rounding to nearest"), std::string::npos);
  EXPECT_NE(refusal(ptx_of("add.rn.ftz.f32 %f1, %f2, %f3;")).find("flushes denormal"), std::string::npos);
  EXPECT_NE(refusal(ptx_of("ex2.approx.f32 %f1, %f2;")).find("approximate"), std::string::npos);
  EXPECT_NE(refusal(ptx_of("div.full.f32 %f1, %f2, %f3;")).find("not an instruction"), std::string::npos);
  EXPECT_NE(refusal(ptx_of("sqrt.approx.ftz.f32 %f1, %f2;")).find("approximate"), std::string::npos);
}

TEST_F(Parser, WritesTheLogThatWasAskedFor) {
  char log[200] = "";
  int options[] = {5, 6};  // CU_JIT_ERROR_LOG_BUFFER and its size
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  CUmodule module = nullptr;
  const std::string ptx = ptx_of("lg2.approx.f32 %f1, %f2;");
  EXPECT_EQ(cuModuleLoadDataEx(&module, ptx.c_str(), 2, options, values), 218);
  EXPECT_NE(std::string(log).find("lg2.approx.f32"), std::string::npos) << log;
}

TEST_F(Parser, RefusesMachineCodeAndNewerTargets) {
  CUmodule module = nullptr;
  EXPECT_EQ(cuModuleLoadData(&module,
                             "\x7f"
                             "ELF..."),
            209);
  std::string ptx = fixture("add.ptx");
  ptx.replace(ptx.find("sm_90"), 5, "sm_100");
  EXPECT_NE(refusal(ptx).find("sm_100"), std::string::npos);
  configure("devices=1,capability=100");
  use_device(0);
  EXPECT_EQ(cuModuleLoadData(&module, ptx.c_str()), 0) << standin_last_error();
}

}  // namespace
}  // namespace standin_test
