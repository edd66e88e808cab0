// Which OpenCL devices names stand for. The last device, if it computes on the host's cores, can stand for as
// many names as it has units: each gets a part of it.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "gpu/opencl/opencl_driver.h"

namespace lockstep::gpu::opencl {

class Choice {
 public:
  // `missing`: why there are no devices, if there are none. Requires: `found` outlives it.
  Choice(const std::vector<Found>& found, std::string missing)
      : found_(found), missing_(std::move(missing)) {}

  // opencl:i. Throws Error(device) with the names there are, or why there are none.
  void add(const std::string& name);

  // How many of them compute on the host's cores.
  int on_cores() const;

  struct Options {
    int threads = 1;  // units of each part of a divided device
    CacheOptions cache = {};
  };
  // A driver a name, in order.
  std::vector<std::unique_ptr<Driver>> make(const std::shared_ptr<const Library>& library,
                                            const Options& options) const;

 private:
  struct Wanted {
    std::string name;
    std::size_t device;
    bool may_divide;
  };
  std::vector<OwnedDevice> divided(const Library& library, int threads) const;

  const std::vector<Found>& found_;
  const std::string missing_;
  std::vector<Wanted> wanted_;
};

}  // namespace lockstep::gpu::opencl
