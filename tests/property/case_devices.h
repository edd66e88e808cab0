// The devices of a case: its own of the CPU, and GPUs that it shares with other cases.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "device/device.h"
#include "gpu_devices_for_test.h"
#include "property/case.h"

namespace lockstep::property {

// Those of which this machine has devices.
std::vector<const GpuKind*> present_gpu_kinds();

class CaseDevices {
 public:
  explicit CaseDevices(const Case& c);

  const std::vector<device::Device*>& all() const { return all_; }
  const std::vector<bool>& gpus() const { return gpus_; }    // by device: a GPU?
  const std::string& gpu_kind() const { return gpu_kind_; }  // "" without a GPU
  std::string kinds_text() const;                            // "cpu+cuda"

 private:
  std::string gpu_kind_;
  std::vector<std::unique_ptr<device::Device>> own_;
  std::vector<device::Device*> all_;
  std::vector<bool> gpus_;
};

}  // namespace lockstep::property
