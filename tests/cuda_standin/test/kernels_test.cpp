// Kernels that NVRTC compiles, held against plain C++ bit by bit.
#include <bit>
#include <cmath>
#include <numeric>

#include "test/card.h"
#include "test/nvrtc.h"

namespace standin_test {
namespace {

class Kernels : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!have_nvrtc()) GTEST_SKIP() << "no NVRTC: set NVRTC_LIBRARY to the path of libnvrtc.so.13 or .12";
    configure(GetParam());
    use_device(0);
  }
};

std::vector<float> numbers(std::size_t count, unsigned seed) {
  std::vector<float> values(count);
  for (float& value : values) {
    seed = seed * 1664525u + 1013904223u;
    value = static_cast<float>(static_cast<int>(seed >> 8) - (1 << 23)) * 0x1p-20f;
  }
  return values;
}

std::vector<std::uint32_t> bits(const std::vector<float>& values) {
  std::vector<std::uint32_t> result;
  for (const float value : values) result.push_back(std::bit_cast<std::uint32_t>(value));
  return result;
}

TEST_P(Kernels, AddsVectors) {
  const std::string ptx = compile(R"(
extern "C" __constant__ float factor[3] = {1.0f, -2.5f, 1e-40f};
extern "C" __global__ void add(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i] * factor[i % 3];
})");
  constexpr int kCount = 1000;
  const std::vector<float> a = numbers(kCount, 1);
  const std::vector<float> b = numbers(kCount, 2);
  const CUdeviceptr c = allocate<float>(kCount);
  ASSERT_EQ(launch_and_wait(kernel(ptx, "add"), {8, 128}, upload(a), upload(b), c, kCount), 0)
      << standin_last_error();
  std::vector<float> expected(kCount);
  const float factor[3] = {1.0f, -2.5f, 1e-40f};
  for (std::size_t i = 0; i < kCount; ++i) {
    const volatile float product = b[i] * factor[i % 3];
    expected[i] = a[i] + product;
  }
  EXPECT_EQ(bits(download<float>(c, kCount)), bits(expected));
}

TEST_P(Kernels, MultipliesMatricesByTiles) {
  const std::string ptx = compile(R"(
extern "C" __global__ void __launch_bounds__(256) multiply(const float* a, const float* b, float* c, int n) {
  __shared__ float ta[16][16];
  __shared__ float tb[16][17];
  int x = threadIdx.x % 16, y = threadIdx.x / 16;
  int row = blockIdx.x / (n / 16) * 16 + y, column = blockIdx.x % (n / 16) * 16 + x;
  float sum = 0;
  for (int k0 = 0; k0 < n; k0 += 16) {
    ta[y][x] = a[row * n + k0 + x];
    tb[y][x] = b[(k0 + y) * n + column];
    __syncthreads();
    for (int k = 0; k < 16; ++k) sum = __fmaf_rn(ta[y][k], tb[k][x], sum);
    __syncthreads();
  }
  c[row * n + column] = sum;
})");
  constexpr int kSide = 64;
  const std::vector<float> a = numbers(kSide * kSide, 3);
  const std::vector<float> b = numbers(kSide * kSide, 4);
  const CUdeviceptr c = allocate<float>(kSide * kSide);
  ASSERT_EQ(launch_and_wait(kernel(ptx, "multiply"), {16, 256}, upload(a), upload(b), c, kSide), 0)
      << standin_last_error();
  std::vector<float> expected(kSide * kSide);
  for (std::size_t row = 0; row < kSide; ++row) {
    for (std::size_t column = 0; column < kSide; ++column) {
      float sum = 0;
      for (std::size_t k = 0; k < kSide; ++k) sum = std::fma(a[row * kSide + k], b[k * kSide + column], sum);
      expected[row * kSide + column] = sum;
    }
  }
  EXPECT_EQ(bits(download<float>(c, kSide * kSide)), bits(expected));
}

TEST_P(Kernels, ReducesInSharedMemoryOfTheLaunch) {
  const std::string ptx = compile(R"(
extern "C" __global__ void reduce(const float* a, float* sums) {
  extern __shared__ float s[];
  s[threadIdx.x] = a[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) s[threadIdx.x] += s[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = s[0];
})");
  const std::vector<float> a = numbers(256 * 5, 5);
  const CUdeviceptr sums = allocate<float>(5);
  ASSERT_EQ(launch_and_wait(kernel(ptx, "reduce"), {5, 256, 1024}, upload(a), sums), 0)
      << standin_last_error();
  std::vector<float> expected;
  for (std::size_t block = 0; block < 5; ++block) {
    std::vector<float> s(a.begin() + static_cast<int>(block) * 256,
                         a.begin() + static_cast<int>(block + 1) * 256);
    for (std::size_t half = 128; half > 0; half /= 2) {
      for (std::size_t i = 0; i < half; ++i) s[i] += s[i + half];
    }
    expected.push_back(s[0]);
  }
  EXPECT_EQ(bits(download<float>(sums, 5)), bits(expected));
}

TEST_P(Kernels, DividesIndices) {
  const std::string ptx = compile(R"(
extern "C" __global__ void indices(long long* out, int n, int p, int q, unsigned u, long long w) {
  int i = blockIdx.x * blockDim.x + threadIdx.x - 100;
  if (i >= n) return;
  long long r = i / p * 1000000007ll + i % p;
  r ^= (long long)((unsigned)i / u) << 20 | (unsigned)i % u;
  r += (i / 7) * (i % 13) - (i >> 3) + __clz(i) + __popc(i) + (long long)(int)__brev(i);
  r -= (long long)i * q / w + ((long long)i * q) % w + __mulhi(i, q) + (long long)__umulhi((unsigned)i, u);
  r += (short)(i * 3) / (short)7 + (unsigned char)(i * 5) % 11 + min(i, p) - max(i, -q) + abs(i - 50);
  out[i + 100] = r;
})");
  constexpr int kCount = 900;
  const int p = 37;
  const int q = 12345;
  const unsigned u = 29;
  const long long w = 1234567;
  const CUdeviceptr out = allocate<long long>(kCount + 100);
  ASSERT_EQ(launch_and_wait(kernel(ptx, "indices"), {8, 125}, out, kCount, p, q, u, w), 0)
      << standin_last_error();
  std::vector<long long> expected;
  for (int i = -100; i < kCount; ++i) {
    const auto bare = static_cast<unsigned>(i);
    long long r = i / p * 1000000007ll + i % p;
    r ^= static_cast<long long>(bare / u) << 20 | bare % u;
    unsigned reversed = 0;
    for (int bit = 0; bit < 32; ++bit) reversed |= (bare >> bit & 1u) << (31 - bit);
    r += (i / 7) * (i % 13) - (i >> 3) + std::countl_zero(bare) + std::popcount(bare) +
         static_cast<long long>(static_cast<int>(reversed));
    const long long product = static_cast<long long>(i) * q;
    r -= product / w + product % w + static_cast<int>(product >> 32) +
         static_cast<long long>(static_cast<unsigned long long>(bare) * u >> 32);
    r += static_cast<short>(i * 3) / 7 + static_cast<unsigned char>(i * 5) % 11 + std::min(i, p) -
         std::max(i, -q) + std::abs(i - 50);
    expected.push_back(r);
  }
  EXPECT_EQ(download<long long>(out, kCount + 100), expected);
}

TEST_P(Kernels, DivergesInNestedLoops) {
  const std::string ptx = compile(R"(
extern "C" __global__ void collatz(int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int total = 0;
  for (int start = 1; start <= i % 7 + 1; ++start) {
    int steps = 0;
    for (unsigned n = i + start; n != 1; ++steps) {
      if (n % 2 == 0) { n /= 2; continue; }
      if (steps > 60) break;
      n = 3 * n + 1;
    }
    total = total * 3 + steps;
    if (total % 11 == 5) return;
    out[i] = total;
  }
})");
  constexpr int kCount = 512;
  std::vector<int> expected(kCount, -1);
  const CUdeviceptr out = upload(expected);
  ASSERT_EQ(launch_and_wait(kernel(ptx, "collatz"), {4, 128}, out), 0) << standin_last_error();
  for (int i = 0; i < kCount; ++i) {
    int total = 0;
    for (int start = 1; start <= i % 7 + 1; ++start) {
      int steps = 0;
      for (auto n = static_cast<unsigned>(i + start); n != 1; ++steps) {
        if (n % 2 == 0) {
          n /= 2;
          continue;
        }
        if (steps > 60) break;
        n = 3 * n + 1;
      }
      total = static_cast<int>(static_cast<unsigned>(total) * 3 + static_cast<unsigned>(steps));
      if (total % 11 == 5) break;
      expected[static_cast<std::size_t>(i)] = total;
    }
  }
  EXPECT_EQ(download<int>(out, kCount), expected);
}

TEST_P(Kernels, LoadsVectorsAndIndexesLocalArrays) {
  const std::string ptx = compile(R"(
struct Options { float scale[3]; int rounds; double bias; };
extern "C" __global__ void mix(const float4* in, float2* out, Options options) {
  int i = threadIdx.x;
  float4 v = in[i];
  float local[8] = {v.x, v.y, v.z, v.w, options.scale[i % 3], 1, 2, (float)options.bias};
  int at = i;
  for (int r = 0; r < options.rounds; ++r) {
    at = (at * 5 + 3) % 8;
    local[at] = local[at] / local[(at + 3) % 8] + sqrtf(fabsf(local[(at + 1) % 8]));
  }
  out[i] = make_float2(local[i % 8], fmaxf(local[(i + 1) % 8], -v.x));
})");
  struct Options {
    float scale[3];
    int rounds;
    double bias;
  };
  const Options options{{0.5f, 3.0f, -7.0f}, 9, 0.1};
  const std::vector<float> in = numbers(4 * 70, 6);
  const CUdeviceptr out = allocate<float>(2 * 70);
  ASSERT_EQ(launch_and_wait(kernel(ptx, "mix"), {1, 70}, upload(in), out, options), 0)
      << standin_last_error();
  std::vector<float> expected;
  for (std::size_t i = 0; i < 70; ++i) {
    float local[8] = {in[4 * i],
                      in[4 * i + 1],
                      in[4 * i + 2],
                      in[4 * i + 3],
                      options.scale[i % 3],
                      1,
                      2,
                      static_cast<float>(options.bias)};
    std::size_t at = i;
    for (int r = 0; r < options.rounds; ++r) {
      at = (at * 5 + 3) % 8;
      const volatile float quotient = local[at] / local[(at + 3) % 8];
      local[at] = quotient + std::sqrt(std::fabs(local[(at + 1) % 8]));
    }
    expected.push_back(local[i % 8]);
    expected.push_back(std::fmax(local[(i + 1) % 8], -in[4 * i]));
  }
  EXPECT_EQ(bits(download<float>(out, 140)), bits(expected));
}

TEST_P(Kernels, ExchangesLanesAndCountsAtomically) {
  const std::string ptx = compile(R"(
extern "C" __device__ unsigned count;
extern "C" __global__ void sum(const int* in, int* out, unsigned* total) {
  __shared__ unsigned here;
  if (threadIdx.x == 0) here = 0;
  __syncthreads();
  int v = in[threadIdx.x];
  for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(0xffffffffu, v, step);
  int above = __shfl_down_sync(0xffffffffu, in[threadIdx.x], 1);
  out[threadIdx.x] = v + above;
  atomicAdd(&here, 1u);
  atomicAdd(&count, 2u);
  __syncthreads();
  if (threadIdx.x == 0) *total = here + atomicAdd(&count, 0u);
})");
  std::vector<int> in(64);
  std::iota(in.begin(), in.end(), 10);
  const CUdeviceptr out = allocate<int>(64);
  const CUdeviceptr total = allocate<unsigned>(1);
  ASSERT_EQ(launch_and_wait(kernel(ptx, "sum"), {1, 64}, upload(in), out, total), 0) << standin_last_error();
  std::vector<int> expected(64);
  for (std::size_t i = 0; i < 64; ++i) {
    const std::size_t warp = i / 32 * 32;
    expected[i] = in[i % 32 == 31 ? i : i + 1];
    for (std::size_t lane = 0; lane < 32; ++lane) expected[i] += in[warp + lane];
  }
  EXPECT_EQ(download<int>(out, 64), expected);
  EXPECT_EQ(download<unsigned>(total, 1)[0], 64u + 128u);
}

TEST_P(Kernels, ReadsHalfwordsAndBytesThroughGenericPointers) {
  const std::string ptx = compile(R"(
extern "C" __global__ void narrow(const unsigned char* bytes, const short* shorts, int* out, int select) {
  __shared__ unsigned char s[64];
  __shared__ short h[64];
  int i = threadIdx.x;
  s[i] = bytes[i] + 1;
  h[i] = (short)(shorts[i] - 5);
  __syncthreads();
  const unsigned char* from = select ? s : bytes;
  out[i] = from[(i + 1) % 64] * 1000 + h[63 - i] + (signed char)bytes[i];
})");
  std::vector<unsigned char> bytes(64);
  std::vector<short> shorts(64);
  for (std::size_t i = 0; i < 64; ++i) {
    bytes[i] = static_cast<unsigned char>(i * 37);
    shorts[i] = static_cast<short>(i * 1001);
  }
  const CUdeviceptr out = allocate<int>(64);
  const CUfunction narrow = kernel(ptx, "narrow");
  for (const int select : {0, 1}) {
    ASSERT_EQ(launch_and_wait(narrow, {1, 64}, upload(bytes), upload(shorts), out, select), 0)
        << standin_last_error();
    std::vector<int> expected;
    for (std::size_t i = 0; i < 64; ++i) {
      const int byte = static_cast<unsigned char>(bytes[(i + 1) % 64] + select);
      expected.push_back(byte * 1000 + static_cast<short>(shorts[63 - i] - 5) +
                         static_cast<signed char>(bytes[i]));
    }
    EXPECT_EQ(download<int>(out, 64), expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Orders, Kernels,
                         testing::Values("order=natural", "seed=1", "seed=2", "seed=3,devices=2"),
                         [](const auto& order) { return "Order" + std::to_string(order.index); });

}  // namespace
}  // namespace standin_test
