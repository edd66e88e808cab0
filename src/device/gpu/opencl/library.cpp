#include "device/gpu/opencl/library.h"

#include <array>

#include "base/error.h"

namespace lockstep::device::gpu::opencl {
namespace {

template <class T>
T number(const Api& api, DeviceId device, Uint what) {
  T value{};
  Library::expect(api.GetDeviceInfo(device, what, sizeof value, &value, nullptr), "OpenCL",
                  "clGetDeviceInfo");
  return value;
}

// Drivers pad names with blanks and zeros.
std::string trimmed(std::string text) {
  text.resize(text.find_last_not_of(std::string_view(" \0", 2)) + 1);
  return text;
}

}  // namespace

void Library::expect(Int error, const std::string& device, std::string_view call) {
  if (error != kSuccess) throw Error(Fault::device, "{}: {} failed: {}", device, call, error_name(error));
}

std::shared_ptr<const Library> Library::open(std::string& problem) {
  const std::array<std::string, 1> paths{"libOpenCL.so.1"};
  std::string why;
  std::unique_ptr<SharedLibrary> library = SharedLibrary::open(paths, why);
  if (!library) {
    problem = fmt::format("no OpenCL found ({})", why);
    return nullptr;
  }
  std::shared_ptr<Library> opened(new Library(std::move(library)));
#define LOCKSTEP_OPENCL_FIND(name, ...)                                                                      \
  opened->api_.name = reinterpret_cast<Api::name##Function*>(opened->library_->find("cl" #name));            \
  if (opened->api_.name == nullptr) {                                                                        \
    problem = fmt::format("{} has no function cl" #name "; OpenCL 1.2 is needed", opened->library_->path()); \
    return nullptr;                                                                                          \
  }
  LOCKSTEP_OPENCL_FUNCTIONS(LOCKSTEP_OPENCL_FIND)
#undef LOCKSTEP_OPENCL_FIND
  return opened;
}

std::string Library::text(DeviceId device, Uint what) const {
  std::size_t size = 0;
  expect(api_.GetDeviceInfo(device, what, 0, nullptr, &size), "OpenCL", "clGetDeviceInfo");
  std::string value(size, '\0');
  expect(api_.GetDeviceInfo(device, what, size, value.data(), nullptr), "OpenCL", "clGetDeviceInfo");
  return trimmed(value);
}

Found Library::describe(PlatformId platform, DeviceId device, int index) const {
  std::array<char, 256> name{};
  // A platform with a longer name is known by none.
  if (api_.GetPlatformInfo(platform, kPlatformName, name.size(), name.data(), nullptr) != kSuccess)
    name[0] = 0;
  const auto type = number<Bitfield>(api_, device, kDeviceType);
  Found found;
  found.platform = platform;
  found.device = device;
  found.facts.name = fmt::format("opencl:{}", index);
  found.facts.model = text(device, kDeviceName);
  found.facts.driver = fmt::format("{} {}", trimmed(name.data()), text(device, kDriverVersion));
  found.facts.memory = number<std::uint64_t>(api_, device, kDeviceGlobalMemSize);
  found.facts.largest_allocation = number<std::uint64_t>(api_, device, kDeviceMaxMemAllocSize);
  found.facts.units = static_cast<int>(number<Uint>(api_, device, kDeviceMaxComputeUnits));
  found.facts.gpu = (type & kDeviceTypeGpu) != 0;
  found.cpu = (type & kDeviceTypeCpu) != 0;
  found.vector_floats = static_cast<int>(number<Uint>(api_, device, kDeviceNativeVectorWidthFloat));
  return found;
}

std::vector<Found> Library::devices() const {
  Uint count = 0;
  const Int none = api_.GetPlatformIDs(0, nullptr, &count);
  if (none == kPlatformNotFound || count == 0) return {};
  expect(none, "OpenCL", "clGetPlatformIDs");
  std::vector<PlatformId> platforms(count);
  expect(api_.GetPlatformIDs(count, platforms.data(), nullptr), "OpenCL", "clGetPlatformIDs");
  std::vector<Found> found;
  for (PlatformId platform : platforms) {
    Uint devices = 0;
    const Int error = api_.GetDeviceIDs(platform, kDeviceTypeAll, 0, nullptr, &devices);
    if (error == kDeviceNotFound || devices == 0) continue;
    expect(error, "OpenCL", "clGetDeviceIDs");
    std::vector<DeviceId> ids(devices);
    expect(api_.GetDeviceIDs(platform, kDeviceTypeAll, devices, ids.data(), nullptr), "OpenCL",
           "clGetDeviceIDs");
    for (DeviceId id : ids) found.push_back(describe(platform, id, static_cast<int>(found.size())));
  }
  return found;
}

}  // namespace lockstep::device::gpu::opencl
