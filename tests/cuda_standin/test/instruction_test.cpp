// Single instructions, against what the PTX manual says they give.
#include <bit>
#include <cmath>
#include <limits>

#include "test/card.h"
#include "test/fixture.h"

namespace standin_test {
namespace {

class Instructions : public testing::Test {
 protected:
  void SetUp() override {
    configure("devices=1");
    use_device(0);
    out_ = allocate<std::uint64_t>(40);
  }

  // What the body leaves in %rd0, for the first thread of `threads`.
  std::uint64_t run(const std::string& body, unsigned threads = 1) {
    const std::string ptx = ptx_of(
        body + "\nmul.wide.u32 %rd19, %t, 8; add.u64 %rd19, %rd19, %out; st.global.u64 [%rd19], %rd0;");
    CUmodule module = nullptr;
    if (cuModuleLoadData(&module, ptx.c_str()) != 0 ||
        launch_and_wait(kernel_of(module, "k"), {1, threads}, out_) != 0) {
      ADD_FAILURE() << body << ": " << standin_last_error();
      return 0;
    }
    results_ = download<std::uint64_t>(out_, threads);
    return results_[0];
  }

  std::uint32_t run32(const std::string& instruction) {
    return static_cast<std::uint32_t>(run(instruction + " mov.b64 %rd0, {%r0, %r0};"));
  }
  float run_float(const std::string& instruction) {
    return std::bit_cast<float>(run32(instruction + " mov.b32 %r0, %f0;"));
  }
  double run_double(const std::string& instruction) {
    return std::bit_cast<double>(run(instruction + " mov.b64 %rd0, %fd0;"));
  }
  bool holds(const std::string& comparison) { return run32(comparison + " selp.u32 %r0, 1, 0, %p0;") == 1; }

  CUdeviceptr out_ = 0;
  std::vector<std::uint64_t> results_;
};

TEST_F(Instructions, Integers) {
  EXPECT_EQ(run32("add.s32 %r0, 2147483647, 1;"), 0x80000000u);
  EXPECT_EQ(run32("sub.u32 %r0, 3, 5;"), 0xfffffffeu);
  EXPECT_EQ(run32("mul.lo.u32 %r0, 0x10001, 0x10001;"), 0x20001u);
  EXPECT_EQ(run32("mul.hi.u32 %r0, 0xffffffff, 0xffffffff;"), 0xfffffffeu);
  EXPECT_EQ(run32("mul.hi.s32 %r0, -1, 5;"), 0xffffffffu);
  EXPECT_EQ(run("mul.wide.s32 %rd0, -3, 5;"), static_cast<std::uint64_t>(-15));
  EXPECT_EQ(run("mul.wide.u32 %rd0, -3, 5;"), std::uint64_t{0xfffffffd} * 5);
  EXPECT_EQ(run("mul.hi.u64 %rd0, -1, 10;"), 9u);
  EXPECT_EQ(run("mul.hi.s64 %rd0, -1, 10;"), ~std::uint64_t{0});
  EXPECT_EQ(run("mad.wide.u32 %rd0, 7, 8, 5000000000;"), 5000000056u);
  EXPECT_EQ(run32("mad.lo.s32 %r0, -7, 8, 1;"), static_cast<std::uint32_t>(-55));
  EXPECT_EQ(run32("mad.hi.u32 %r0, 0x80000000, 6, 1;"), 4u);
  EXPECT_EQ(run32("div.s32 %r0, -7, 2;"), static_cast<std::uint32_t>(-3));
  EXPECT_EQ(run32("rem.s32 %r0, -7, 2;"), static_cast<std::uint32_t>(-1));
  EXPECT_EQ(run32("div.s32 %r0, -2147483648, -1;"), 0x80000000u);
  EXPECT_EQ(run32("rem.s32 %r0, -2147483648, -1;"), 0u);
  EXPECT_EQ(run32("div.u32 %r0, 7, 0;"), 0xffffffffu);
  EXPECT_EQ(run("div.u64 %rd0, -1, 3;"), 0x5555555555555555u);
  EXPECT_EQ(run32("min.s32 %r0, -1, 1;"), 0xffffffffu);
  EXPECT_EQ(run32("min.u32 %r0, -1, 1;"), 1u);
  EXPECT_EQ(run32("max.u32 %r0, -1, 1;"), 0xffffffffu);
  EXPECT_EQ(run32("abs.s32 %r0, -9;"), 9u);
  EXPECT_EQ(run("neg.s64 %rd0, 9;"), static_cast<std::uint64_t>(-9));
  EXPECT_EQ(run32("mov.u16 %h1, 0xffff; add.u16 %h0, %h1, 2; cvt.u32.u16 %r0, %h0;"), 1u);
}

TEST_F(Instructions, Bits) {
  EXPECT_EQ(run32("shl.b32 %r0, 1, 31;"), 0x80000000u);
  EXPECT_EQ(run32("shl.b32 %r0, 1, 32;"), 0u);
  EXPECT_EQ(run32("shr.u32 %r0, 0x80000000, 40;"), 0u);
  EXPECT_EQ(run32("shr.s32 %r0, 0x80000000, 40;"), 0xffffffffu);
  EXPECT_EQ(run("shl.b64 %rd0, 3, 40;"), std::uint64_t{3} << 40);
  EXPECT_EQ(run32("shf.l.wrap.b32 %r0, 0x80000001, 0x12345678, 4;"), 0x23456788u);
  EXPECT_EQ(run32("shf.r.wrap.b32 %r0, 0x80000001, 0x12345678, 36;"), 0x88000000u);
  EXPECT_EQ(run32("shf.r.clamp.b32 %r0, 0x80000001, 0x12345678, 36;"), 0x12345678u);
  EXPECT_EQ(run32("bfe.u32 %r0, 0x12345678, 8, 12;"), 0x456u);
  EXPECT_EQ(run32("bfe.s32 %r0, 0x00000f00, 8, 4;"), 0xffffffffu);
  EXPECT_EQ(run32("bfe.u32 %r0, 0x12345678, 24, 40;"), 0x12u);
  EXPECT_EQ(run32("bfe.s32 %r0, 0x80000000, 40, 4;"), 0xffffffffu);
  EXPECT_EQ(run32("bfi.b32 %r0, 0xabc, 0x11111111, 4, 8;"), 0x11111bc1u);
  EXPECT_EQ(run32("prmt.b32 %r0, 0x33221100, 0x77665584, 0x4c10;"), 0x84ff1100u);
  EXPECT_EQ(run32("lop3.b32 %r0, 0xff00ff00, 0xf0f0f0f0, 0xcccccccc, 0x96;"),
            0xff00ff00u ^ 0xf0f0f0f0u ^ 0xccccccccu);
  EXPECT_EQ(run32("lop3.b32 %r0, 0xff00ff00, 0xf0f0f0f0, 0xcccccccc, 0xe2;"),
            (0xff00ff00u & 0xf0f0f0f0u) | (0xccccccccu & ~0xf0f0f0f0u));
  EXPECT_EQ(run32("popc.b64 %r0, 0xf0f0f0f0f0f0f0f0;"), 32u);
  EXPECT_EQ(run32("clz.b32 %r0, 1;"), 31u);
  EXPECT_EQ(run32("clz.b32 %r0, 0;"), 32u);
  EXPECT_EQ(run32("brev.b32 %r0, 0x80000002;"), 0x40000001u);
  EXPECT_EQ(run32("not.b32 %r0, 1;"), 0xfffffffeu);
  EXPECT_EQ(run32("mov.b32 {%h1, %h2}, 0x12345678; mov.b32 %r0, {%h2, %h1};"), 0x56781234u);
  EXPECT_EQ(run("mov.b64 {%r1, %r2}, 0x123456789abcdef0; mov.b64 %rd0, {%r2, %r1};"), 0x9abcdef012345678u);
  EXPECT_EQ(run32("slct.u32.s32 %r0, 1, 2, -1;"), 2u);
  EXPECT_EQ(run32("cnot.b32 %r0, 0;"), 1u);
}

TEST_F(Instructions, Comparisons) {
  EXPECT_TRUE(holds("setp.lt.s32 %p0, -1, 1;"));
  EXPECT_FALSE(holds("setp.lt.u32 %p0, -1, 1;"));
  EXPECT_TRUE(holds("setp.hi.u32 %p0, -1, 1;"));
  EXPECT_TRUE(holds("setp.ge.s64 %p0, 5, 5;"));
  EXPECT_TRUE(holds("mov.f32 %f1, 0f7FC00000; setp.neu.f32 %p0, %f1, %f1;"));
  EXPECT_FALSE(holds("mov.f32 %f1, 0f7FC00000; setp.ne.f32 %p0, %f1, %f1;"));
  EXPECT_FALSE(holds("mov.f32 %f1, 0f7FC00000; setp.eq.f32 %p0, %f1, %f1;"));
  EXPECT_TRUE(holds("mov.f32 %f1, 0f7FC00000; setp.ltu.f32 %p0, %f1, 0f3F800000;"));
  EXPECT_FALSE(holds("mov.f32 %f1, 0f7FC00000; setp.lt.f32 %p0, %f1, 0f3F800000;"));
  EXPECT_TRUE(holds("mov.f32 %f1, 0f7FC00000; setp.nan.f32 %p0, %f1, 0f3F800000;"));
  EXPECT_FALSE(holds("mov.f32 %f1, 0f7FC00000; setp.num.f32 %p0, %f1, 0f3F800000;"));
  EXPECT_TRUE(holds("setp.eq.f32 %p0, 0f80000000, 0f00000000;"));
  EXPECT_FALSE(holds("setp.eq.s32 %p1, 1, 1; setp.lt.and.s32 %p0, 1, 2, !%p1;"));
  EXPECT_TRUE(holds("setp.eq.s32 %p1, 1, 2; setp.gt.or.s32 %p2|%p0, 1, 2, %p1;"));
  EXPECT_TRUE(holds("setp.eq.s32 %p1, 1, 1; @%p1 setp.eq.s32 %p1|%p0, 1, 2;"));
  EXPECT_EQ(run32("set.lt.u32.s32 %r0, 1, 2;"), 0xffffffffu);
  EXPECT_EQ(run_float("set.gt.f32.f32 %f0, 0f40000000, 0f3F800000;"), 1.0f);
  EXPECT_TRUE(holds("testp.subnormal.f32 %p0, 0f00000001;"));
  EXPECT_FALSE(holds("testp.finite.f32 %p0, 0f7F800000;"));
}

TEST_F(Instructions, Floats) {
  const float tiny = std::bit_cast<float>(0x00000003u);
  EXPECT_EQ(run_float("add.rn.f32 %f0, 0f00000001, 0f00000002;"), tiny);
  EXPECT_EQ(run_float("mul.rn.f32 %f0, 0f00000006, 0f3F000000;"), tiny);
  EXPECT_EQ(run_float("div.rn.f32 %f0, 0f3F800000, 0f40400000;"), 1.0f / 3.0f);
  EXPECT_EQ(run_float("rcp.rn.f32 %f0, 0f40400000;"), 1.0f / 3.0f);
  EXPECT_EQ(run_float("sqrt.rn.f32 %f0, 0f40000000;"), std::sqrt(2.0f));
  // (1 + 2^-12)^2 - 1: the last bit survives only if the product is not rounded
  const float x = 1.0f + 0x1p-12f;
  EXPECT_EQ(run_float("mov.f32 %f1, 0f3F800800; fma.rn.f32 %f0, %f1, %f1, 0fBF800000;"),
            std::fma(x, x, -1.0f));
  EXPECT_EQ(run_float("mov.f32 %f1, 0f3F800800; mul.rn.f32 %f2, %f1, %f1; add.rn.f32 %f0, %f2, 0fBF800000;"),
            0x1p-11f);
  EXPECT_NE(std::fma(x, x, -1.0f), 0x1p-11f);
  EXPECT_EQ(run32("min.f32 %f0, 0f00000000, 0f80000000; mov.b32 %r0, %f0;"), 0x80000000u);
  EXPECT_EQ(run32("max.f32 %f0, 0f80000000, 0f00000000; mov.b32 %r0, %f0;"), 0u);
  EXPECT_EQ(run_float("mov.f32 %f1, 0f7FC00000; max.f32 %f0, %f1, 0f3F800000;"), 1.0f);
  EXPECT_EQ(run32("mov.f32 %f1, 0f7FC00000; max.NaN.f32 %f0, %f1, 0f3F800000; mov.b32 %r0, %f0;"),
            0x7fffffffu);
  EXPECT_EQ(run32("sub.rn.f32 %f0, 0f7F800000, 0f7F800000; mov.b32 %r0, %f0;"), 0x7fffffffu);
  EXPECT_EQ(run_float("neg.f32 %f0, 0f3F800000;"), -1.0f);
  EXPECT_EQ(run_float("abs.f32 %f0, 0fBF800000;"), 1.0f);
  EXPECT_EQ(run_float("copysign.f32 %f0, 0f80000000, 0f40000000;"), -2.0f);
  EXPECT_EQ(run_double("add.rn.f64 %fd0, 0d3FF0000000000000, 0d3CA0000000000000;"), 1.0 + 0x1p-53);
  EXPECT_EQ(run_double("mov.f64 %fd1, 0d4008000000000000; div.rn.f64 %fd0, 0d3FF0000000000000, %fd1;"),
            1.0 / 3.0);
}

TEST_F(Instructions, Conversions) {
  EXPECT_EQ(run("cvt.s64.s32 %rd0, -5;"), static_cast<std::uint64_t>(-5));
  EXPECT_EQ(run("cvt.u64.u32 %rd0, -5;"), 0xfffffffbu);
  EXPECT_EQ(run32("mov.u32 %r1, 0x1ff80; cvt.s32.s8 %r0, %r1;"), 0xffffff80u);
  EXPECT_EQ(run32("mov.u32 %r1, 0x1ff80; cvt.u32.u8 %r0, %r1;"), 0x80u);
  EXPECT_EQ(run32("mov.u32 %r1, 0x1ff80; cvt.s16.s8 %h1, %r1; cvt.u32.u16 %r0, %h1;"), 0xff80u);
  EXPECT_EQ(run32("mov.u32 %r1, 300; cvt.sat.u8.u32 %r0, %r1;"), 255u);
  EXPECT_EQ(run32("cvt.sat.s16.s32 %r0, -70000;"), 0xffff8000u);
  EXPECT_EQ(run_float("cvt.rn.f32.s32 %f0, 16777217;"), 16777216.0f);
  EXPECT_EQ(run_float("cvt.rn.f32.u32 %f0, 0xffffffff;"), 4294967296.0f);
  EXPECT_EQ(run_float("cvt.rn.f32.s64 %f0, -9007199791611905;"), -9007200328482816.0f);
  EXPECT_EQ(run32("cvt.rzi.s32.f32 %r0, 0fC0200000;"), static_cast<std::uint32_t>(-2));  // -2.5
  EXPECT_EQ(run32("cvt.rni.s32.f32 %r0, 0fC0200000;"), static_cast<std::uint32_t>(-2));
  EXPECT_EQ(run32("cvt.rni.s32.f32 %r0, 0f40600000;"), 4u);  // 3.5
  EXPECT_EQ(run32("cvt.rmi.s32.f32 %r0, 0fC0200000;"), static_cast<std::uint32_t>(-3));
  EXPECT_EQ(run32("cvt.rpi.s32.f32 %r0, 0f40200000;"), 3u);
  EXPECT_EQ(run32("cvt.rzi.s32.f32 %r0, 0f7F000000;"), 0x7fffffffu);
  EXPECT_EQ(run32("cvt.rzi.u32.f32 %r0, 0fBF800000;"), 0u);
  EXPECT_EQ(run32("cvt.rzi.u32.f32 %r0, 0f4F7FFFFF;"), 0xffffff00u);
  EXPECT_EQ(run32("cvt.rzi.s32.f32 %r0, 0f7FC00000;"), 0u);
  EXPECT_EQ(run("cvt.rzi.s64.f32 %rd0, 0f7FC00000;"), std::uint64_t{1} << 63);
  EXPECT_EQ(run("cvt.rzi.u64.f32 %rd0, 0f5F800000;"), ~std::uint64_t{0});
  EXPECT_EQ(run_float("cvt.rni.f32.f32 %f0, 0f3F000000;"), 0.0f);
  EXPECT_EQ(run_double("cvt.f64.f32 %fd0, 0f3DCCCCCD;"), static_cast<double>(0.1f));
  EXPECT_EQ(run_float("cvt.rn.f32.f64 %f0, 0d3FB999999999999A;"), 0.1f);
  EXPECT_EQ(run_float("cvt.sat.f32.f32 %f0, 0f40000000;"), 1.0f);
}

TEST_F(Instructions, PredicatesGuardLaneByLane) {
  run("and.b32 %r1, %t, 3; setp.eq.u32 %p1, %r1, 2; cvt.u64.u32 %rd0, %t; @%p1 mul.lo.u64 %rd0, %rd0, 1000;"
      "@!%p1 bra skip; add.u64 %rd0, %rd0, 7; skip:",
      40);
  for (std::uint64_t i = 0; i < 40; ++i) EXPECT_EQ(results_[i], i % 4 == 2 ? 1000 * i + 7 : i) << i;
}

TEST_F(Instructions, EveryLaneOfDividesAndShifts) {
  run("add.u32 %r1, %t, 1; div.u32 %r2, 1000000, %r1; rem.u32 %r3, 1000000, %r1; shl.b32 %r4, %r3, %t;"
      "mov.b64 %rd0, {%r4, %r2};",
      40);
  for (std::uint32_t i = 0; i < 40; ++i) {
    const std::uint32_t shifted = i < 32 ? 1000000u % (i + 1) << i : 0u;
    EXPECT_EQ(results_[i], std::uint64_t{1000000 / (i + 1)} << 32 | shifted) << i;
  }
}

class Defects : public Instructions {};

const char* const kRoundedTwice =
    "mov.f32 %f1, 0f3F800800; mul.rn.f32 %f2, %f1, %f1; add.rn.f32 %f0, %f2, 0fBF800000;";

TEST_F(Defects, FlushingDenormalsShows) {
  EXPECT_NE(run_float("add.rn.f32 %f0, 0f00000001, 0f00000002;"), 0.0f);
  configure("devices=1,ftz=1");
  use_device(0);
  out_ = allocate<std::uint64_t>(40);
  EXPECT_EQ(run_float("add.rn.f32 %f0, 0f00000001, 0f00000002;"), 0.0f);
  EXPECT_EQ(run_float("mul.rn.f32 %f0, 0f00800000, 0f3F000000;"), 0.0f) << "a result";
  EXPECT_EQ(run_float("mul.rn.f32 %f0, 0f00400000, 0f4B000000;"), 0.0f) << "an operand";
  EXPECT_EQ(run_float("add.rn.ftz.f32 %f0, 0f3F800000, 0f3F800000;"), 2.0f);
  EXPECT_TRUE(holds("setp.eq.f32 %p0, 0f00000001, 0f00000002;"));
  EXPECT_EQ(run_float("add.rn.f32 %f0, 0f3F800000, 0f00800000;"), 1.0f);
}

TEST_F(Defects, ContractionShows) {
  EXPECT_EQ(run_float(kRoundedTwice), 0x1p-11f);
  configure("devices=1,contract=1");
  use_device(0);
  out_ = allocate<std::uint64_t>(40);
  const float x = 1.0f + 0x1p-12f;
  EXPECT_EQ(run_float(kRoundedTwice), std::fma(x, x, -1.0f));
  const std::string used_twice = std::string(kRoundedTwice) + " add.rn.f32 %f3, %f2, %f2;";
  EXPECT_EQ(run_float(used_twice), 0x1p-11f) << "a product with another use stays";
}

}  // namespace
}  // namespace standin_test
