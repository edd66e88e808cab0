// Where tests find NVRTC.
#pragma once
#include <memory>
#include <string>

#include "gpu/cuda/compiler.h"

namespace lockstep::gpu::cuda {

// Empty: where toolkits put it.
inline std::string nvrtc_path() {
#ifdef LOCKSTEP_NVRTC
  return LOCKSTEP_NVRTC;
#else
  return {};
#endif
}

// Null if there is none; a test then skips with `problem`.
inline std::shared_ptr<const NvrtcLibrary> open_nvrtc(std::string& problem) {
  return NvrtcLibrary::open(nvrtc_path(), 13000, problem);
}

}  // namespace lockstep::gpu::cuda
