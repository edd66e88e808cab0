// OpenCL as it is found on this machine.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "gpu/opencl/api.h"
#include "gpu/opencl/find_devices.h"
#include "gpu/shared_library.h"

namespace lockstep::gpu::opencl {

class Library {
 public:
  // Opens the library. Null if there is none; `problem` then says what is missing, in one line.
  static std::shared_ptr<const Library> open(std::string& problem);

  // Functions, and the library that has them, if it is one that was opened.
  explicit Library(const Api& api, std::unique_ptr<SharedLibrary> library = nullptr)
      : library_(std::move(library)), api_(api) {}

  std::vector<Found> devices() const { return find_devices(api_).devices; }

  const Api& api() const { return api_; }

  // Throws Error(device) naming `device`, `call` and the error unless it is a success.
  static void expect(Int error, const std::string& device, std::string_view call);

 private:
  const std::unique_ptr<SharedLibrary> library_;
  const Api api_;
};

}  // namespace lockstep::gpu::opencl
