// CUDA's driver as it is found on this machine, and the devices that it has.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/cuda/api.h"
#include "gpu/driver.h"
#include "gpu/shared_library.h"

namespace lockstep::gpu::cuda {

struct Found {
  Ordinal device = 0;
  Facts facts;
  int capability = 0;  // 90 is 9.0
};

class Library {
 public:
  // Opens the driver's library, or the one at `path`, and starts it. Null if there is none or it does not
  // start; `problem` then says why, in one line.
  static std::shared_ptr<const Library> open(const std::string& path, std::string& problem);

  // Functions of a driver that knows CUDA up to `version`, and the library that has them, if it is one that
  // was opened.
  Library(const Api& api, int version, std::unique_ptr<SharedLibrary> library = nullptr)
      : library_(std::move(library)), api_(api), version_(version) {}

  // All devices, named cuda:0, cuda:1, ... Throws Error(device) if the driver fails.
  std::vector<Found> devices() const;

  // The newest CUDA that the driver knows: 13000 is 13.0.
  int version() const { return version_; }

  const Api& api() const { return api_; }

  // The name of an error, as CUDA's documents spell it.
  std::string error_name(Result error) const;

  // Throws Error(device) naming `device`, `call` and the error unless it is a success.
  void expect(Result error, const std::string& device, std::string_view call) const;

 private:
  Found describe(int index) const;

  const std::unique_ptr<SharedLibrary> library_;
  const Api api_;
  const int version_;
};

// 13000 is "13.0".
std::string version_text(int version);

}  // namespace lockstep::gpu::cuda
