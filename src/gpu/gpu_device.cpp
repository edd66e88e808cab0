#include "gpu/gpu_device.h"

#include "gpu/gpu_executable.h"
#include "gpu/memory_sizes.h"

namespace lockstep::gpu {
namespace {

class GpuDevice final : public device::Device {
 public:
  explicit GpuDevice(std::unique_ptr<Driver> driver) : driver_(std::move(driver)) {}

  std::string name() const override { return driver_->facts().name; }
  std::string model() const override { return driver_->facts().model; }
  std::unique_ptr<device::Executable> load(const program::Program& program,
                                           const device::LoadOptions& options) override {
    return std::make_unique<GpuExecutable>(program, options, *driver_);
  }
  program::MemoryPlan plan(const program::Program& program, const device::LoadOptions& options) override {
    return GpuMemory::plan_of(program, memory_sizes(program, options, *driver_));
  }
  device::FreeMemory free_memory() const override { return GpuMemory::free_on(*driver_); }
  std::unique_ptr<device::ThreadPlace> adopt_thread() override { return nullptr; }
  bool reaches(const device::Device& other) const override {
    const auto* const gpu = dynamic_cast<const GpuDevice*>(&other.itself());
    return gpu != nullptr && driver_->reaches(*gpu->driver_);
  }
  void copy(std::span<const std::byte> from, std::span<std::byte> to) override { driver_->copy(from, to); }

 private:
  const std::unique_ptr<Driver> driver_;
};

}  // namespace

std::unique_ptr<device::Device> make_gpu_device(std::unique_ptr<Driver> driver) {
  return std::make_unique<GpuDevice>(std::move(driver));
}

}  // namespace lockstep::gpu
