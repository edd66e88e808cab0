#include "gpu/opencl/find_devices.h"

#include <array>

#include "base/error.h"
#include "base/float_environment.h"
#include "gpu/opencl/library.h"

namespace lockstep::gpu::opencl {
namespace {

// Drivers pad names with blanks and zeros.
std::string trimmed(std::string text) {
  text.resize(text.find_last_not_of(std::string_view(" \0", 2)) + 1);
  return text;
}

// A device as it describes itself. `name` stands for it in errors.
class Asked {
 public:
  Asked(const Api& api, DeviceId device, std::string name)
      : api_(api), device_(device), name_(std::move(name)) {}

  template <class T>
  T number(Uint what) const {
    T value{};
    ask(what, sizeof value, &value, nullptr);
    return value;
  }
  std::string text(Uint what) const {
    std::size_t size = 0;
    ask(what, 0, nullptr, &size);
    std::string value(size, '\0');
    ask(what, size, value.data(), nullptr);
    return trimmed(value);
  }

 private:
  void ask(Uint what, std::size_t size, void* value, std::size_t* needed) const {
    Library::expect(api_.GetDeviceInfo(device_, what, size, value, needed), name_, "clGetDeviceInfo");
  }

  const Api& api_;
  DeviceId device_;
  const std::string name_;
};

class Search {
 public:
  explicit Search(const Api& api) : api_(api) {}

  Findings run() {
    Uint count = 0;
    const Int error = load_drivers(count);
    if (error == kPlatformNotFound) return {};
    Library::expect(error, "OpenCL", "clGetPlatformIDs");
    if (count == 0) return {};
    std::vector<PlatformId> platforms(count);
    Library::expect(api_.GetPlatformIDs(count, platforms.data(), nullptr), "OpenCL", "clGetPlatformIDs");
    for (std::size_t i = 0; i < platforms.size(); ++i) {
      const std::string name = text_of(platforms[i], kPlatformName);
      const std::string called = fmt::format("OpenCL platform {}{}", i, name.empty() ? "" : ", " + name);
      or_leave_out([&] { add_platform(platforms[i], name, called); });
    }
    return std::move(findings_);
  }

 private:
  // The first call loads the drivers of all vendors, which make their threads later.
  Int load_drivers(Uint& platforms) const {
    const FloatEnvironment environment;
    return api_.GetPlatformIDs(0, nullptr, &platforms);
  }

  template <class Add>
  void or_leave_out(Add add) {
    try {
      add();
    } catch (const Error& error) {
      findings_.left_out.emplace_back(error.what());
    }
  }

  void add_platform(PlatformId platform, const std::string& name, const std::string& called) {
    Uint count = 0;
    const Int error = api_.GetDeviceIDs(platform, kDeviceTypeAll, 0, nullptr, &count);
    if (error == kDeviceNotFound) return;
    Library::expect(error, called, "clGetDeviceIDs");
    if (count == 0) return;
    std::vector<DeviceId> ids(count);
    Library::expect(api_.GetDeviceIDs(platform, kDeviceTypeAll, count, ids.data(), nullptr), called,
                    "clGetDeviceIDs");
    for (std::size_t i = 0; i < ids.size(); ++i) {
      or_leave_out([&] {
        const std::string place = fmt::format("device {} of {}", i, called);
        Found found = describe({api_, ids[i], place}, name);
        found.facts.place = place;
        found.facts.compiler += ", " + text_of(platform, kPlatformVersion);  // PoCL's has LLVM's version
        found.platform = platform;
        found.device = ids[i];
        found.facts.name = fmt::format("opencl:{}", findings_.devices.size());
        findings_.devices.push_back(std::move(found));
      });
    }
  }

  // What a platform says of itself. A longer text counts as none.
  std::string text_of(PlatformId platform, Uint what) const {
    std::array<char, 256> text{};
    const Int error = api_.GetPlatformInfo(platform, what, text.size(), text.data(), nullptr);
    return error == kSuccess ? trimmed(text.data()) : "";
  }

  static Found describe(const Asked& device, const std::string& platform) {
    const auto type = device.number<Bitfield>(kDeviceType);
    Found found;
    found.facts.model = device.text(kDeviceName);
    found.facts.driver = fmt::format("{} {}", platform, device.text(kDriverVersion));
    found.facts.compiler = device.text(kDeviceVersion);
    found.facts.memory = device.number<std::uint64_t>(kDeviceGlobalMemSize);
    found.facts.largest_allocation = device.number<std::uint64_t>(kDeviceMaxMemAllocSize);
    found.facts.units = static_cast<int>(device.number<Uint>(kDeviceMaxComputeUnits));
    found.facts.gpu = (type & kDeviceTypeGpu) != 0;
    found.cpu = (type & kDeviceTypeCpu) != 0;
    found.vector_floats = static_cast<int>(device.number<Uint>(kDeviceNativeVectorWidthFloat));
    return found;
  }

  const Api& api_;
  Findings findings_;
};

}  // namespace

Findings find_devices(const Api& api) { return Search(api).run(); }

}  // namespace lockstep::gpu::opencl
