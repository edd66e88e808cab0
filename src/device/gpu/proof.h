// What a device has proven once is remembered, per device, driver and kernels.
#pragma once
#include <filesystem>
#include <string>

#include "device/gpu/driver.h"

namespace lockstep::device::gpu {

class Proofs {
 public:
  // An empty directory remembers nothing.
  explicit Proofs(std::filesystem::path directory) : directory_(std::move(directory)) {}

  bool known(const Driver& driver) const;
  // What cannot be written is proven again next time.
  void remember(const Driver& driver) const;

 private:
  std::filesystem::path path(const Driver& driver) const;

  const std::filesystem::path directory_;
};

}  // namespace lockstep::device::gpu
