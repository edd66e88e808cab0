#include "gpu/opencl/library.h"

#include <array>

#include "base/error.h"

namespace lockstep::gpu::opencl {

void Library::expect(Int error, const std::string& device, std::string_view call) {
  if (error != kSuccess) throw Error(Fault::device, "{}: {} failed: {}", device, call, error_name(error));
}

std::shared_ptr<const Library> Library::open(std::string& problem) {
  const std::array<std::string, 1> paths{"libOpenCL.so.1"};
  std::string why;
  std::unique_ptr<SharedLibrary> library = SharedLibrary::open(paths, why);
  if (!library) {
    problem = fmt::format("no OpenCL found ({})", why);
    return nullptr;
  }
  Api api;
#define LOCKSTEP_OPENCL_FIND(name, ...)                                                             \
  api.name = reinterpret_cast<Api::name##Function*>(library->find("cl" #name));                     \
  if (api.name == nullptr) {                                                                        \
    problem = fmt::format("{} has no function cl" #name "; OpenCL 1.2 is needed", library->path()); \
    return nullptr;                                                                                 \
  }
  LOCKSTEP_OPENCL_FUNCTIONS(LOCKSTEP_OPENCL_FIND)
#undef LOCKSTEP_OPENCL_FIND
  return std::make_shared<const Library>(api, std::move(library));
}

}  // namespace lockstep::gpu::opencl
