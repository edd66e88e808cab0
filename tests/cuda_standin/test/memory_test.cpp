// Errors of memory and of barriers that a kernel can make, each found and told in words.
#include "test/card.h"
#include "test/fixture.h"

namespace standin_test {
namespace {

constexpr int kIllegalAddress = 700;
constexpr int kTimeout = 702;
constexpr int kMisaligned = 716;
constexpr int kLaunchFailed = 719;

class MemoryErrors : public testing::Test {
 protected:
  void SetUp() override { start("devices=2,seed=9,budget=100000"); }

  void start(const std::string& configuration) {
    configure(configuration);
    use_device(0);
    out_ = allocate<unsigned>(64);
  }

  // Runs the kernel on 64 threads; expects the code and a part of the text, and that the device stays broken.
  void expect_error(const std::string& body, int code, const std::string& text,
                    const std::string& variables = "") {
    start("devices=2,seed=9,budget=100000");
    const CUfunction k = kernel(ptx_of(body, variables), "k");
    EXPECT_EQ(launch_and_wait(k, {1, 64}, out_), code) << body;
    EXPECT_NE(std::string(standin_last_error()).find(text), std::string::npos) << standin_last_error();
    EXPECT_NE(std::string(standin_last_error()).find("kernel k"), std::string::npos) << standin_last_error();
    CUdeviceptr more = 0;
    EXPECT_EQ(cuMemAlloc_v2(&more, 16), code);
    EXPECT_EQ(cuCtxSynchronize(), code);
    EXPECT_NE(std::string(standin_last_error()).find(text), std::string::npos) << "the first text stays";
  }

  void expect_fine(const std::string& body, const std::string& variables = "") {
    start("devices=2,seed=9,budget=100000");
    EXPECT_EQ(launch_and_wait(kernel(ptx_of(body, variables), "k"), {1, 64}, out_), 0)
        << standin_last_error();
  }

  CUdeviceptr out_ = 0;
};

const std::string kShared = ".shared .align 16 .b8 s[256];";
const std::string kOwnWord = "shl.b32 %r1, %t, 2; mov.u32 %r2, s; add.u32 %r2, %r2, %r1;";
const std::string kNextWord = "xor.b32 %r3, %r1, 4; mov.u32 %r4, s; add.u32 %r4, %r4, %r3;";

TEST_F(MemoryErrors, GlobalOutOfBounds) {
  expect_fine("mul.wide.u32 %rd1, %t, 4; add.u64 %rd2, %out, %rd1; st.global.u32 [%rd2], %t;");
  expect_error("mul.wide.u32 %rd1, %t, 4; add.u64 %rd2, %out, %rd1; st.global.u32 [%rd2+4], %t;",
               kIllegalAddress, "byte 256 of an allocation of 256 bytes");
  expect_error("ld.global.u32 %r1, [%out+-4];", kIllegalAddress, "out of bounds: read of 4 bytes");
  expect_error("mov.u64 %rd1, 0; st.global.u32 [%rd1], %t;", kIllegalAddress, "no device memory");
  expect_error("mov.u64 %rd1, 64; st.u32 [%rd1], %t;", kIllegalAddress, "no device memory");
  expect_error("ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%out+256];", kIllegalAddress, "out of bounds");
}

TEST_F(MemoryErrors, UseAfterFree) {
  const CUfunction k = kernel(ptx_of("st.global.u32 [%out], %t;"), "k");
  ASSERT_EQ(cuMemFree_v2(out_), 0);
  EXPECT_EQ(launch_and_wait(k, {1, 1}, out_), kIllegalAddress);
  EXPECT_NE(std::string(standin_last_error()).find("use after free"), std::string::npos)
      << standin_last_error();
}

TEST_F(MemoryErrors, FreesAreCheckedToo) {
  EXPECT_EQ(cuMemFree_v2(out_ + 4), 1);
  EXPECT_EQ(cuMemFree_v2(out_), 0);
  EXPECT_EQ(cuMemFree_v2(out_), 1);
  EXPECT_NE(std::string(standin_last_error()).find("freed before"), std::string::npos)
      << standin_last_error();
}

TEST_F(MemoryErrors, UninitialisedMemoryShows) {
  EXPECT_EQ(download<unsigned>(out_, 2), (std::vector<unsigned>{0xffc0dead, 0xffc0dead}));
}

TEST_F(MemoryErrors, Misaligned) {
  expect_error("st.global.u32 [%out+2], %t;", kMisaligned, "misaligned access: 4 bytes");
  expect_error("ld.global.v2.f32 {%f1, %f2}, [%out+4];", kMisaligned, "misaligned access: 8 bytes");
  expect_error("st.shared.u32 [s+1], %t;", kMisaligned, "misaligned access to shared", kShared);
  expect_error(".local .align 16 .b8 l[16]; ld.local.u64 %rd1, [l+4];", kMisaligned,
               "misaligned access to local");
}

TEST_F(MemoryErrors, SharedAndLocalOutOfBounds) {
  expect_error(kOwnWord + "st.shared.u32 [%r2+16], %t;", kIllegalAddress, "out of bounds of shared memory",
               kShared);
  expect_error(".local .align 16 .b8 l[16]; st.local.u32 [l+16], %t;", kIllegalAddress,
               "out of bounds of local memory");
  expect_error(
      ".local .align 16 .b8 l[16]; mov.u64 %rd1, l; cvta.local.u64 %rd2, %rd1; st.u32 [%rd2+20], %t;",
      kIllegalAddress, "out of bounds of local memory");
  expect_error("ld.param.u64 %rd1, [out+8];", kIllegalAddress, "out of bounds of the parameters");
}

TEST_F(MemoryErrors, WritesToConstants) {
  expect_error("mov.u64 %rd1, c; cvta.const.u64 %rd2, %rd1; st.u32 [%rd2], %t;", kIllegalAddress,
               "constant memory", ".const .align 4 .b8 c[4] = {1};");
}

TEST_F(MemoryErrors, ReadsOfAnotherThreadsWordNeedABarrier) {
  const std::string write = kOwnWord + kNextWord + "st.shared.u32 [%r2], %t;";
  expect_fine(write + "bar.sync 0; ld.shared.u32 %r5, [%r4];", kShared);
  expect_error(write + "ld.shared.u32 %r5, [%r4];", kLaunchFailed, "a barrier is missing", kShared);
  expect_error(write + "cvt.u64.u32 %rd1, %r4; cvta.shared.u64 %rd2, %rd1; ld.u32 %r5, [%rd2];",
               kLaunchFailed, "race on shared memory", kShared);
}

TEST_F(MemoryErrors, WritesOverAnotherThreadsReadNeedABarrier) {
  const std::string read =
      kOwnWord + kNextWord + "st.shared.u32 [%r2], %t; bar.sync 0; ld.shared.u32 %r5, [%r4];";
  expect_fine(read + "bar.sync 0; st.shared.u32 [%r2], %r5;", kShared);
  expect_error(read + "st.shared.u32 [%r2], %r5;", kLaunchFailed, "since the last barrier", kShared);
  // one word that all threads read
  const std::string all = kOwnWord + "st.shared.u32 [%r2], %t; bar.sync 0; ld.shared.u32 %r5, [s];";
  expect_fine(all, kShared);
  expect_error(all + "setp.eq.u32 %p1, %t, 0; @%p1 st.shared.u32 [s], %t;", kLaunchFailed,
               "several threads read", kShared);
}

TEST_F(MemoryErrors, TwoThreadsWriteOneWord) {
  expect_error("st.shared.u32 [s], %t;", kLaunchFailed, "wrote since the last barrier", kShared);
}

TEST_F(MemoryErrors, BytesOfOneWordAreDifferentPlaces) {
  const std::string bytes = "mov.u32 %r2, s; add.u32 %r2, %r2, %t; st.shared.u8 [%r2], %t;";
  expect_fine(bytes, kShared);
  expect_error(bytes + "ld.shared.u8 %r3, [s];", kLaunchFailed, "shared memory: thread", kShared);
}

TEST_F(MemoryErrors, AtomicsMeetButDoNotMixWithReads) {
  const std::string count =
      "setp.eq.u32 %p1, %t, 0; @%p1 st.shared.u32 [s], %t; bar.sync 0; red.shared.add.u32 [s], 1;";
  expect_fine(count + "bar.sync 0; ld.shared.u32 %r1, [s];", kShared);
  expect_error(count + "ld.shared.u32 %r1, [s];", kLaunchFailed, "an atomic operation wrote", kShared);
}

TEST_F(MemoryErrors, UninitialisedSharedMemory) {
  expect_error("ld.shared.u32 %r1, [s+8];", kLaunchFailed, "uninitialised shared memory", kShared);
}

TEST_F(MemoryErrors, EarlierBlocksLeaveNothingInSharedMemory) {
  start("devices=1,order=natural");
  const CUfunction k =
      kernel(ptx_of("mov.u32 %r1, %ctaid.x; setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.u32 [s], %t;"
                    "bar.sync 0; ld.shared.u32 %r2, [s];",
                    kShared),
             "k");
  EXPECT_EQ(launch_and_wait(k, {1, 1}, out_), 0) << standin_last_error();
  EXPECT_EQ(launch_and_wait(k, {2, 1}, out_), kLaunchFailed);
}

TEST_F(MemoryErrors, BarriersThatNotAllReach) {
  expect_error("setp.lt.u32 %p1, %t, 40; @%p1 bra out; bar.sync 0; out:", kLaunchFailed,
               "barrier divergence");
  expect_error("setp.lt.u32 %p1, %t, 3; @%p1 exit; bar.sync 0;", kLaunchFailed, "it has ended");
  expect_error("setp.lt.u32 %p1, %t, 32; @%p1 bra a; bar.sync 0; bra b; a: bar.sync 0; b:", kLaunchFailed,
               "waits at the barrier of ptx line");
  expect_fine("setp.lt.u32 %p1, %t, 1000; @%p1 bra a; bar.sync 0; bra b; a: bar.sync 0; b:");
}

TEST_F(MemoryErrors, EndlessLoop) {
  expect_error("again: bra again;", kTimeout, "endless loop");
  expect_error("again: setp.eq.u32 %p1, %t, 5; @%p1 bra again;", kTimeout, "more than 100000 instructions");
  expect_fine("mov.u32 %r1, 0; again: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 30000; @%p1 bra again;");
}

TEST_F(MemoryErrors, AnotherDevicesMemoryNeedsPeerAccess) {
  const CUcontext other = use_device(1);
  const CUdeviceptr theirs = upload(std::vector<unsigned>{1, 2});
  use_device(0);
  const std::string ptx =
      ptx_of("ld.global.u32 %r1, [%out]; add.u32 %r1, %r1, 10; st.global.u32 [%out], %r1;");
  ASSERT_EQ(cuCtxEnablePeerAccess(other, 0), 0);
  EXPECT_EQ(cuCtxEnablePeerAccess(other, 0), 704);
  EXPECT_EQ(launch_and_wait(kernel(ptx, "k"), {1, 1}, theirs), 0) << standin_last_error();
  use_device(1);
  EXPECT_EQ(download<unsigned>(theirs, 2), (std::vector<unsigned>{11, 2}));
  EXPECT_EQ(launch_and_wait(kernel(ptx, "k"), {1, 1}, out_), kIllegalAddress);
  EXPECT_NE(std::string(standin_last_error()).find("without peer access"), std::string::npos);
}

TEST_F(MemoryErrors, CopiesAreChecked) {
  std::vector<unsigned> host(100);
  EXPECT_EQ(cuMemcpyDtoH_v2(host.data(), out_, 400), 1);
  EXPECT_NE(std::string(standin_last_error()).find("out of bounds"), std::string::npos)
      << standin_last_error();
  EXPECT_EQ(cuMemcpyHtoD_v2(out_ + 4, host.data(), 256), 1);
  EXPECT_EQ(cuMemcpyHtoD_v2(reinterpret_cast<CUdeviceptr>(host.data()), host.data(), 4), 1);
  EXPECT_EQ(cuMemsetD32Async(out_ + 4, 0, 64, nullptr), 1);
  EXPECT_EQ(cuMemsetD32Async(out_ + 2, 0, 1, nullptr), 1);
  EXPECT_EQ(cuMemcpyHtoD_v2(out_, host.data(), 256), 0);
}

}  // namespace
}  // namespace standin_test
