// What a device has shown once is remembered, per device, driver and kernels: that it is exact, or why it is
// refused.
#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "gpu/driver.h"

namespace lockstep::gpu {

class Proofs {
 public:
  // An empty directory remembers nothing.
  explicit Proofs(std::filesystem::path directory) : directory_(std::move(directory)) {}

  // Why the device is refused, "" if it is exact, nothing if it has not been tried.
  std::optional<std::string> refusal(const Driver& driver) const;
  // What cannot be written is tried again next time.
  void remember(const Driver& driver, const std::string& refusal) const;

 private:
  std::filesystem::path path(const Driver& driver) const;

  const std::filesystem::path directory_;
};

}  // namespace lockstep::gpu
