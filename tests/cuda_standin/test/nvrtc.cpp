// Finds NVRTC and calls it.
#include "test/nvrtc.h"

#include <cstdlib>
#include <stdexcept>

#include <dlfcn.h>
#include <glob.h>

namespace standin_test {
namespace {

using Program = void*;

struct Nvrtc {
  int (*create)(Program*, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
  int (*compile)(Program, int, const char* const*) = nullptr;
  int (*ptx_size)(Program, std::size_t*) = nullptr;
  int (*ptx)(Program, char*) = nullptr;
  int (*log_size)(Program, std::size_t*) = nullptr;
  int (*log)(Program, char*) = nullptr;
  int (*destroy)(Program*) = nullptr;
};

std::vector<std::string> candidates() {
  std::vector<std::string> paths;
  if (const char* const given = std::getenv("NVRTC_LIBRARY")) paths.emplace_back(given);
  for (const char* const pattern :
       {"/usr/local/cuda*/lib*/libnvrtc.so.1[23]",
        STANDIN_PROJECT_DIR "/.venv/*/lib/python*/site-packages/nvidia/*/lib/libnvrtc.so.1[23]",
        STANDIN_PROJECT_DIR "/.venv/lib/python*/site-packages/nvidia/*/lib/libnvrtc.so.1[23]"}) {
    glob_t found{};
    if (glob(pattern, 0, nullptr, &found) == 0) {
      for (std::size_t i = 0; i < found.gl_pathc; ++i) paths.emplace_back(found.gl_pathv[i]);
    }
    globfree(&found);
  }
  return paths;
}

template <class Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
}

const Nvrtc* nvrtc() {
  static const Nvrtc* const loaded = []() -> const Nvrtc* {
    for (const std::string& path : candidates()) {
      void* const library = dlopen(path.c_str(), RTLD_NOW);
      if (library == nullptr) continue;
      static Nvrtc functions;
      find(library, "nvrtcCreateProgram", functions.create);
      find(library, "nvrtcCompileProgram", functions.compile);
      find(library, "nvrtcGetPTXSize", functions.ptx_size);
      find(library, "nvrtcGetPTX", functions.ptx);
      find(library, "nvrtcGetProgramLogSize", functions.log_size);
      find(library, "nvrtcGetProgramLog", functions.log);
      find(library, "nvrtcDestroyProgram", functions.destroy);
      return &functions;
    }
    return nullptr;
  }();
  return loaded;
}

}  // namespace

bool have_nvrtc() { return nvrtc() != nullptr; }

std::string compile_with(const std::string& source, const std::vector<std::string>& options) {
  const Nvrtc* const library = nvrtc();
  if (library == nullptr) throw std::runtime_error("there is no NVRTC");
  Program program = nullptr;
  if (library->create(&program, source.c_str(), "kernel.cu", 0, nullptr, nullptr) != 0) {
    throw std::runtime_error("nvrtcCreateProgram failed");
  }
  std::vector<const char*> arguments;
  for (const std::string& option : options) arguments.push_back(option.c_str());
  const int result = library->compile(program, static_cast<int>(arguments.size()), arguments.data());
  std::size_t size = 0;
  std::string text;
  if (result != 0) {
    library->log_size(program, &size);
    text.resize(size);
    library->log(program, text.data());
    library->destroy(&program);
    throw std::runtime_error("NVRTC: " + text);
  }
  library->ptx_size(program, &size);
  text.resize(size);
  library->ptx(program, text.data());
  library->destroy(&program);
  return text.c_str();
}

std::string compile(const std::string& source, const std::vector<std::string>& more_options) {
  std::vector<std::string> options{"--fmad=false", "--ftz=false", "--prec-div=true", "--prec-sqrt=true",
                                   "--gpu-architecture=compute_90"};
  options.insert(options.end(), more_options.begin(), more_options.end());
  return compile_with(source, options);
}

}  // namespace standin_test
