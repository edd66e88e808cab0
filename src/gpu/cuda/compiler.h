// The compiler of CUDA's kernels: NVRTC, opened at run time. It makes PTX, from which every driver as new as
// NVRTC makes a device's own code. An older driver refuses it; then NVRTC makes that code itself.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gpu/cuda/api.h"
#include "gpu/kernel_cache.h"
#include "gpu/shared_library.h"

namespace lockstep::gpu::cuda {

class NvrtcLibrary {
 public:
  // Opens NVRTC at `path`, or where toolkits put it, if `path` is empty; of several the one of the driver's
  // own major version first, because a driver refuses PTX that is newer than itself. Null if there is none;
  // `problem` then says why, in one line.
  static std::shared_ptr<const NvrtcLibrary> open(const std::string& path, int driver_version,
                                                  std::string& problem);

  int version() const { return version_; }  // 13000 is 13.0

  // Compute capabilities it compiles for: 75, 80, ...
  const std::vector<int>& architectures() const { return architectures_; }

  const NvrtcApi& api() const { return api_; }

 private:
  explicit NvrtcLibrary(std::unique_ptr<SharedLibrary> library) : library_(std::move(library)) {}

  const std::unique_ptr<SharedLibrary> library_;
  NvrtcApi api_;
  int version_ = 0;
  std::vector<int> architectures_;
};

// The device that kernels are compiled for.
struct Target {
  std::string device;      // named in errors
  int capability = 0;      // of the device: 90 is 9.0
  int driver_version = 0;  // 13000 is 13.0
  CacheOptions cache = {};
  std::vector<std::string> more_build_options = {};
};

// PTX for the highest architecture that is not above the target's. Throws Error(device).
std::string compile_ptx(const NvrtcLibrary& nvrtc, const std::string& source, const Target& target);

// The device's own code. Throws Error(device), also if NVRTC makes none for devices of its kind.
std::string compile_cubin(const NvrtcLibrary& nvrtc, const std::string& source, const Target& target);

// All that decides what the cache has of a source, but for the compiler's version.
std::vector<std::string> inputs_of(const std::string& source, const Target& target);

struct BuildOptions {
  Target target;
  std::string nvrtc_library = {};  // instead of where toolkits put it
};

// Calls the driver's `load` with the code in the cache, else with PTX, else with the device's own code, until
// it accepts one, which then goes into the cache. If there is an NVRTC, code of another version of NVRTC in
// the cache is not used. Returns what `load` last said, and throws Error(device) with what to install if
// there is no NVRTC, or one that is too new for the driver.
Result load_kernels(const std::string& source, const BuildOptions& options,
                    const std::function<Result(const std::string& code)>& load);

}  // namespace lockstep::gpu::cuda
