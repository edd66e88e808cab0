// A device that CUDA drives.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "gpu/cuda/library.h"
#include "gpu/kernel_cache.h"

namespace lockstep::gpu::cuda {

struct CudaOptions {
  Found found;
  Style style = kLaneStyle;
  std::string nvrtc_library = {};  // instead of where toolkits put it
  CacheOptions cache = {};
  std::vector<std::string> more_build_options = {};  // for devices that are to be wrong
};

std::unique_ptr<Driver> make_cuda_driver(std::shared_ptr<const Library> library, CudaOptions options);

}  // namespace lockstep::gpu::cuda
