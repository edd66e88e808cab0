// Kernels that a compiler made before are loaded, not compiled again; a driver that refuses what it made gets
// the source.
#include "gpu/opencl/program.h"

#include <filesystem>

#include <gtest/gtest.h>
#include <stdlib.h>

#include "base/error.h"
#include "gpu/opencl/library.h"

namespace lockstep::gpu::opencl {
namespace {

namespace fs = std::filesystem;

constexpr Int kOutOfResources = -5;

Program no_source(Context, Uint, const char**, const std::size_t*, Int* error) {
  *error = kOutOfResources;
  return nullptr;
}
Program no_binary(Context, Uint, const DeviceId*, const std::size_t*, const unsigned char**, Int*,
                  Int* error) {
  *error = kOutOfResources;
  return nullptr;
}

class OpenClProgram : public testing::Test {
 protected:
  void SetUp() override {
    std::string problem;
    library_ = Library::open(problem);
    if (!library_ || library_->devices().empty()) GTEST_SKIP() << "no OpenCL device here";
    found_ = library_->devices().front();
    Int error = kSuccess;
    context_ = library_->api().CreateContext(nullptr, 1, &found_.device, nullptr, nullptr, &error);
    ASSERT_EQ(error, kSuccess);
    std::string name = (fs::temp_directory_path() / "lockstep-program-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    cache_ = name;
  }
  void TearDown() override {
    if (context_ != nullptr) library_->api().ReleaseContext(context_);
    if (!cache_.empty()) fs::remove_all(cache_);
  }

  void build(const Api& api, const std::string& source = "__kernel void nothing() {}\n") {
    const OwnedProgram program =
        build_program(api, context_, found_.device,
                      {.facts = found_.facts, .vector_floats = 1, .source = source, .cache = cache_});
    Int error = kSuccess;
    const OwnedKernel kernel(api.CreateKernel(program.get(), "nothing", &error), {&api});
    EXPECT_EQ(error, kSuccess);
  }
  Api without_source() const {
    Api api = library_->api();
    api.CreateProgramWithSource = no_source;
    return api;
  }

  std::shared_ptr<const Library> library_;
  Found found_;
  Context context_ = nullptr;
  fs::path cache_;
};

TEST_F(OpenClProgram, IsCompiledOnce) {
  EXPECT_THROW(build(without_source()), Error);
  build(library_->api());
  build(without_source());
  EXPECT_THROW(build(without_source(), "__kernel void nothing() { }\n"), Error);
  const Facts facts = found_.facts;
  for (std::string Facts::*const text : {&Facts::driver, &Facts::compiler, &Facts::model, &Facts::build}) {
    found_.facts = facts;
    build(without_source());
    found_.facts.*text += " ";
    EXPECT_THROW(build(without_source()), Error);
  }
}

TEST_F(OpenClProgram, IsCompiledAgainIfItsDriverRefusesIt) {
  build(library_->api());
  Api api = library_->api();
  api.CreateProgramWithBinary = no_binary;
  build(api);
}

}  // namespace
}  // namespace lockstep::gpu::opencl
