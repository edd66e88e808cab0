#include "gpu/cuda/library.h"

#include <array>
#include <fstream>

#include "base/error.h"

namespace lockstep::gpu::cuda {
namespace {

// " (580.95.05)", or nothing where the system does not say: many drivers have one version of CUDA.
std::string module_version() {
  std::ifstream file("/sys/module/nvidia/version");
  std::string version;
  return file >> version ? fmt::format(" ({})", version) : "";
}

}  // namespace

std::string version_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

std::string Library::error_name(Result error) const {
  const char* name = nullptr;
  if (api_.GetErrorName(error, &name) == kSuccess && name != nullptr) return name;
  return fmt::format("error {}, which the driver does not name", error);
}

void Library::expect(Result error, const std::string& device, std::string_view call) const {
  if (error != kSuccess) throw Error(Fault::device, "{}: {} failed: {}", device, call, error_name(error));
}

std::shared_ptr<const Library> Library::open(const std::string& path, std::string& problem) {
  const std::array<std::string, 1> paths{path.empty() ? "libcuda.so.1" : path};
  std::string why;
  std::unique_ptr<SharedLibrary> library = SharedLibrary::open(paths, why);
  if (!library) {
    problem = fmt::format("no CUDA driver found ({})", why);
    return nullptr;
  }
  Api api;
#define LOCKSTEP_CUDA_FIND(name, symbol, ...)                                                        \
  api.name = reinterpret_cast<Api::name##Function*>(library->find(symbol));                          \
  if (api.name == nullptr) {                                                                         \
    problem = fmt::format("{} has no function " symbol "; a newer CUDA driver is needed", paths[0]); \
    return nullptr;                                                                                  \
  }
  LOCKSTEP_CUDA_FUNCTIONS(LOCKSTEP_CUDA_FIND)
#undef LOCKSTEP_CUDA_FIND
  int version = 0;
  Result error = api.Init(0);
  if (error == kSuccess) error = api.DriverGetVersion(&version);
  auto opened = std::make_shared<const Library>(api, version, std::move(library));
  if (error == kSuccess) return opened;
  problem = fmt::format("the CUDA driver does not start: {}", opened->error_name(error));
  return nullptr;
}

Found Library::describe(int index) const {
  Found found;
  found.facts.name = fmt::format("cuda:{}", index);
  const auto must = [&](Result error, std::string_view call) { expect(error, found.facts.name, call); };
  must(api_.DeviceGet(&found.device, index), "cuDeviceGet");
  const auto attribute = [&](int which) {
    int value = 0;
    must(api_.DeviceGetAttribute(&value, which, found.device), "cuDeviceGetAttribute");
    return value;
  };
  std::array<char, 256> model{};
  must(api_.DeviceGetName(model.data(), static_cast<int>(model.size()), found.device), "cuDeviceGetName");
  std::array<char, 32> bus{};
  must(api_.DeviceGetPCIBusId(bus.data(), static_cast<int>(bus.size()), found.device), "cuDeviceGetPCIBusId");
  must(api_.DeviceTotalMem(&found.facts.memory, found.device), "cuDeviceTotalMem");
  found.facts.model = model.data();
  found.facts.place = bus.data();
  found.facts.driver = fmt::format("CUDA {}{}", version_text(version_), module_version());
  found.facts.largest_allocation = found.facts.memory;
  found.facts.units = attribute(kMultiprocessorCount);
  found.facts.gpu = true;
  found.capability = attribute(kCapabilityMajor) * 10 + attribute(kCapabilityMinor);
  return found;
}

std::vector<Found> Library::devices() const {
  int count = 0;
  expect(api_.DeviceGetCount(&count), "CUDA", "cuDeviceGetCount");
  std::vector<Found> found(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) found[static_cast<std::size_t>(i)] = describe(i);
  return found;
}

}  // namespace lockstep::gpu::cuda
