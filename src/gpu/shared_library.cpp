#include "gpu/shared_library.h"

#include <dlfcn.h>

#include "base/float_environment.h"

namespace lockstep::gpu {

std::unique_ptr<SharedLibrary> SharedLibrary::open(std::span<const std::string> paths, std::string& problem) {
  const FloatEnvironment environment;  // a library made for fast mathematics sets its own when it is loaded
  for (const std::string& path : paths) {
    if (void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL))
      return std::unique_ptr<SharedLibrary>(new SharedLibrary(handle, path));
    const char* const error = dlerror();  // a thread's own. NOLINT(concurrency-mt-unsafe)
    if (problem.empty()) problem = error != nullptr ? error : path + " cannot be opened";
  }
  return nullptr;
}

SharedLibrary::SharedLibrary(void* handle, std::string path) : handle_(handle), path_(std::move(path)) {}

SharedLibrary::~SharedLibrary() {
  // Drivers leave threads behind that run the library's code after it is closed; so it stays open.
}

void* SharedLibrary::find(const char* symbol) const { return dlsym(handle_, symbol); }

}  // namespace lockstep::gpu
