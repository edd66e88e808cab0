#include "gpu/cuda/compiler.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "base/refusal_for_test.h"
#include "gpu/cuda/library.h"
#include "gpu/cuda/nvrtc_for_test.h"
#include "gpu/kernel_source.h"

namespace lockstep::gpu::cuda {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kSmallKernel =
    "extern \"C\" __global__ void twice(float* x) { x[threadIdx.x] = 2.0f * x[threadIdx.x]; }";
constexpr const char* kNowhere = "/nowhere/libnvrtc.so";

// What a driver gets that takes everything.
std::string find_code(const std::string& source, const BuildOptions& options) {
  std::string taken;
  EXPECT_EQ(load_kernels(source, options,
                         [&](const std::string& code) {
                           taken = code;
                           return kSuccess;
                         }),
            kSuccess);
  return taken;
}

bool is_cubin(const std::string& code) {
  return code.starts_with(
      "\x7f"
      "ELF");
}

class CudaCompilerTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string problem;
    nvrtc_ = open_nvrtc(problem);
    if (!nvrtc_) GTEST_SKIP() << problem;
    std::string name = (fs::temp_directory_path() / "cuda_compiler_test.XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    directory_ = name;
  }
  void TearDown() override {
    if (!directory_.empty()) fs::remove_all(directory_);
  }

  BuildOptions with_cache(const std::string& nvrtc) const {
    return {.target = {.device = "cuda:0",
                       .capability = 90,
                       .driver_version = 13000,
                       .cache = directory_ / "cache"},
            .nvrtc_library = nvrtc};
  }
  // The one file of the cache.
  fs::path kept() const {
    const std::vector<fs::path> files{fs::directory_iterator(directory_ / "cache"), {}};
    EXPECT_EQ(files.size(), 1u);
    return files.at(0);
  }

  std::shared_ptr<const NvrtcLibrary> nvrtc_;
  fs::path directory_;
};

// Compiles all kernels for one architecture: seconds, so that each of those known today is a test of its own.
constexpr std::array kKnown{75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121};

void expect_compiles(const NvrtcLibrary& nvrtc, int architecture) {
  // Of arithmetic with floats PTX says how it rounds; where it does not, the driver may fuse.
  const std::vector<std::string> loose{"add.f32", "sub.f32", "mul.f32", "mad.f32",
                                       ".ftz",    ".approx", ".full."};
  const std::string ptx =
      compile_ptx(nvrtc, kernel_source(kLaneStyle), {.device = "cuda:0", .capability = architecture});
  EXPECT_THAT(ptx, HasSubstr(fmt::format(".target sm_{}", architecture)));
  EXPECT_THAT(ptx, HasSubstr(".visible .entry sgd("));
  for (const std::string& word : loose) EXPECT_EQ(ptx.find(word), std::string::npos) << word;
}

class CudaArchitectureTest : public testing::TestWithParam<int> {};

TEST_P(CudaArchitectureTest, CompilesTheKernels) {
  std::string problem;
  const std::shared_ptr<const NvrtcLibrary> nvrtc = open_nvrtc(problem);
  if (!nvrtc) GTEST_SKIP() << problem;
  if (std::ranges::count(nvrtc->architectures(), GetParam()) == 0)
    GTEST_SKIP() << "this NVRTC does not compile for it";
  expect_compiles(*nvrtc, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Sm, CudaArchitectureTest, testing::ValuesIn(kKnown),
                         testing::PrintToStringParamName());

TEST_F(CudaCompilerTest, CompilesTheKernelsForArchitecturesThatAreNewToUs) {
  ASSERT_FALSE(nvrtc_->architectures().empty());
  for (const int architecture : nvrtc_->architectures()) {
    if (std::ranges::count(kKnown, architecture) == 0) expect_compiles(*nvrtc_, architecture);
  }
}

TEST_F(CudaCompilerTest, TakesTheHighestArchitectureThatIsNotAboveTheDevice) {
  const std::string ptx = compile_ptx(*nvrtc_, kSmallKernel, {.device = "cuda:0", .capability = 91});
  EXPECT_THAT(ptx, HasSubstr(".target sm_90\n"));
}

TEST_F(CudaCompilerTest, RefusesADeviceThatIsOlderThanEveryArchitecture) {
  EXPECT_THAT(refusal_of(Fault::device,
                         [&] { compile_ptx(*nvrtc_, kSmallKernel, {.device = "cuda:3", .capability = 13}); }),
              AllOf(StartsWith("cuda:3: NVRTC "),
                    EndsWith("does not compile for its compute capability 1.3; `pip install "
                             "nvidia-cuda-nvrtc-cu12` or the toolkit of CUDA 12 brings one that does")));
}

TEST_F(CudaCompilerTest, WritesTheLogOfABuildThatFails) {
  const Target target{.device = "cuda:0", .capability = 90, .cache = directory_};
  const fs::path log = directory_ / "cuda-0-kernels.log";
  EXPECT_EQ(refusal_of(Fault::device, [&] { compile_ptx(*nvrtc_, "nonsense;", target); }),
            "cuda:0: its compiler refuses the kernels (NVRTC_ERROR_COMPILATION); its log is " + log.string());
  std::ifstream file(log);
  EXPECT_THAT(std::string(std::istreambuf_iterator<char>(file), {}), HasSubstr("kernels.cu(1): error"));
}

TEST_F(CudaCompilerTest, TakesFromTheCacheWithoutNvrtc) {
  const std::string compiled = find_code(kSmallKernel, with_cache(nvrtc_path()));
  EXPECT_EQ(find_code(kSmallKernel, with_cache(kNowhere)), compiled);
}

TEST_F(CudaCompilerTest, OtherSourcesOptionsDevicesAndDriversHaveTheirOwnPlacesInTheCache) {
  find_code(kSmallKernel, with_cache(nvrtc_path()));
  const auto missing = [&](const std::string& source, const BuildOptions& options) {
    EXPECT_THAT(refusal_of(Fault::device, [&] { find_code(source, options); }),
                HasSubstr("CUDA's compiler is missing"));
  };
  missing(std::string(kSmallKernel) + " ", with_cache(kNowhere));
  BuildOptions other = with_cache(kNowhere);
  other.target.capability = 80;
  missing(kSmallKernel, other);
  other = with_cache(kNowhere);
  other.target.driver_version = 12090;
  missing(kSmallKernel, other);
  other = with_cache(kNowhere);
  other.target.more_build_options = {"-DMORE"};
  missing(kSmallKernel, other);
}

// The cache has another version's code where the same inputs are looked up.
TEST_F(CudaCompilerTest, CompilesAgainWhatAnotherNvrtcMade) {
  const std::string compiled = find_code(kSmallKernel, with_cache(nvrtc_path()));
  std::ifstream file(kept(), std::ios::binary);
  std::string seal, compiler;
  std::getline(std::getline(file, seal), compiler);
  EXPECT_EQ(compiler, "NVRTC " + version_text(nvrtc_->version()));
  const Target target = with_cache({}).target;
  std::vector<std::string> inputs = inputs_of(kSmallKernel, target);
  const KernelCache cache(target.cache.directory);
  EXPECT_EQ(cache.load(inputs), (KeptKernels{compiler, compiled}));
  cache.keep(inputs, {"NVRTC 1.0", "old code"});
  EXPECT_EQ(find_code(kSmallKernel, with_cache(kNowhere)), "old code");
  EXPECT_EQ(find_code(kSmallKernel, with_cache(nvrtc_path())), compiled);
  EXPECT_EQ(find_code(kSmallKernel, with_cache(kNowhere)), compiled);
}

TEST_F(CudaCompilerTest, CompilesAgainWhereTheCacheIsDamaged) {
  const std::string compiled = find_code(kSmallKernel, with_cache(nvrtc_path()));
  {
    std::fstream file(kept(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(200);
    file.put('~');
  }
  EXPECT_THAT(refusal_of(Fault::device, [&] { find_code(kSmallKernel, with_cache(kNowhere)); }),
              HasSubstr("is missing"));
  EXPECT_EQ(find_code(kSmallKernel, with_cache(nvrtc_path())), compiled);
  EXPECT_EQ(find_code(kSmallKernel, with_cache(kNowhere)), compiled);
}

TEST_F(CudaCompilerTest, GivesADriverThatTakesNoPtxTheDevicesOwnCode) {
  for (const Result refusal : {kUnsupportedPtxVersion, kJitCompilerNotFound, kJitCompilationDisabled}) {
    const auto takes_no_ptx = [=](const std::string& code) { return is_cubin(code) ? kSuccess : refusal; };
    EXPECT_EQ(load_kernels(kSmallKernel, with_cache(nvrtc_path()), takes_no_ptx), kSuccess);
    EXPECT_TRUE(is_cubin(find_code(kSmallKernel, with_cache(kNowhere))));
    fs::remove(kept());
  }
}

TEST_F(CudaCompilerTest, SaysWhenNvrtcIsTooNewForTheDriver) {
  BuildOptions options = with_cache(nvrtc_path());
  options.target.driver_version = 12080;
  const auto much_older = [](const std::string&) { return kUnsupportedPtxVersion; };
  EXPECT_THAT(
      refusal_of(Fault::device, [&] { load_kernels(kSmallKernel, options, much_older); }),
      AllOf(StartsWith("cuda:0: its driver, of CUDA 12.8, does not take what NVRTC "),
            EndsWith("`pip install nvidia-cuda-nvrtc-cu12` or the toolkit of CUDA 12 brings one that fits")));
}

TEST_F(CudaCompilerTest, KeepsOnlyWhatTheDriverTook) {
  constexpr Result kInvalidPtx = 218;
  EXPECT_EQ(
      load_kernels(kSmallKernel, with_cache(nvrtc_path()), [](const std::string&) { return kInvalidPtx; }),
      kInvalidPtx);
  EXPECT_THAT(refusal_of(Fault::device, [&] { find_code(kSmallKernel, with_cache(kNowhere)); }),
              HasSubstr("is missing"));

  // What the cache has, but the driver takes no more, is compiled again.
  const std::string kept = find_code(kSmallKernel, with_cache(nvrtc_path()));
  int refused = 0;
  EXPECT_EQ(load_kernels(kSmallKernel, with_cache(nvrtc_path()),
                         [&](const std::string&) { return refused++ == 0 ? kInvalidPtx : kSuccess; }),
            kSuccess);
  EXPECT_EQ(refused, 2);
}

TEST_F(CudaCompilerTest, CompilesTheKernelsToADevicesOwnCode) {
  const Target target{.device = "cuda:0", .capability = 90};
  EXPECT_TRUE(is_cubin(compile_cubin(*nvrtc_, kernel_source(kLaneStyle), target)));
  EXPECT_THAT(
      refusal_of(Fault::device,
                 [&] { compile_cubin(*nvrtc_, kSmallKernel, {.device = "cuda:0", .capability = 61}); }),
      HasSubstr("does not compile for its compute capability 6.1"));
}

TEST(CudaCompiler, SaysWhatToInstall) {
  const BuildOptions options{.target = {.device = "cuda:1", .capability = 90, .driver_version = 13000},
                             .nvrtc_library = kNowhere};
  EXPECT_THAT(
      refusal_of(Fault::device, [&] { find_code(kSmallKernel, options); }),
      AllOf(HasSubstr("cuda:1: CUDA's compiler is missing: no NVRTC found (/nowhere/libnvrtc.so: "),
            HasSubstr("`pip install nvidia-cuda-nvrtc` or the toolkit of CUDA 13"), Not(HasSubstr("\n"))));
}

// NVRTC 13 knows no device older than 7.5, though drivers of CUDA 13 drive some.
TEST(CudaCompiler, SaysWhatToInstallForAnOldDevice) {
  const BuildOptions options{.target = {.device = "cuda:1", .capability = 70, .driver_version = 13000},
                             .nvrtc_library = kNowhere};
  EXPECT_THAT(refusal_of(Fault::device, [&] { find_code(kSmallKernel, options); }),
              HasSubstr("`pip install nvidia-cuda-nvrtc-cu12` or the toolkit of CUDA 12"));
}

TEST(CudaCompiler, NamesWhatAForeignLibraryLacks) {
  std::string problem;
  EXPECT_EQ(NvrtcLibrary::open("libc.so.6", 13000, problem), nullptr);
  EXPECT_EQ(problem, "libc.so.6 has no function nvrtcGetErrorString; NVRTC 12 or newer is needed");
}

}  // namespace
}  // namespace lockstep::gpu::cuda
