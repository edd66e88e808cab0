// Modules, functions and launches.
#include <algorithm>
#include <cstring>

#include "driver/api.h"

namespace standin {
namespace {

constexpr std::uint64_t kSharedWithoutOptIn = 48 << 10;
constexpr std::uint64_t kMostShared = 232448;

CUmodule load(const void* image) {
  Device& device = current_device();
  if (image == nullptr) throw Problem(Code::invalid_value, "a module without an image");
  const auto* const bytes = static_cast<const char*>(image);
  if (std::memcmp(bytes,
                  "\x7f"
                  "ELF",
                  4) == 0 ||
      std::memcmp(bytes, "\x50\xed\x55\xba", 4) == 0) {
    throw Problem(Code::no_binary_for_gpu,
                  "the stand-in runs PTX, not machine code: give cuModuleLoadData the PTX");
  }
  LoadedModule* const module = device.system->modules.add(load_module(device, bytes));
  return reinterpret_cast<CUmodule>(module);
}

// Writes what went wrong where the caller asked for it.
void write_log(unsigned int count, const CUjit_option* options, void** values) {
  constexpr CUjit_option kErrorLog = 5, kErrorLogBytes = 6;
  char* log = nullptr;
  std::size_t bytes = 0;
  for (unsigned int i = 0; i < count; ++i) {
    if (options[i] == kErrorLog) log = static_cast<char*>(values[i]);
    if (options[i] == kErrorLogBytes) bytes = reinterpret_cast<std::size_t>(values[i]) & 0xffffffff;
  }
  if (log == nullptr || bytes == 0) return;
  const std::string text = last_error();
  const std::size_t length = std::min(text.size(), bytes - 1);
  std::memcpy(log, text.data(), length);
  log[length] = '\0';
}

void check_shape(const Program& program, const Launch& launch) {
  const auto& [x, y, z] = launch.block;
  const std::uint64_t threads = std::uint64_t{x} * y * z;
  if (threads == 0 || x > 1024 || y > 1024 || z > 64 || threads > program.most_threads) {
    throw Problem(Code::invalid_value,
                  "kernel {}: a block of ({},{},{}) threads; the kernel takes at most {}", program.name, x, y,
                  z, program.most_threads);
  }
  if (program.required[0] != 0 && !std::equal(launch.block.begin(), launch.block.end(), program.required)) {
    throw Problem(Code::invalid_value, "kernel {}: a block of ({},{},{}) threads; it requires ({},{},{})",
                  program.name, x, y, z, program.required[0], program.required[1], program.required[2]);
  }
  const auto& grid = launch.grid;
  if (std::uint64_t{grid[0]} * grid[1] * grid[2] == 0 || grid[0] > 2147483647 || grid[1] > 65535 ||
      grid[2] > 65535) {
    throw Problem(Code::invalid_value, "kernel {}: a grid of ({},{},{}) blocks", program.name, grid[0],
                  grid[1], grid[2]);
  }
}

void check_shared(const Function& function, const Launch& launch) {
  const std::uint64_t allowed = std::max<std::uint64_t>(
      kSharedWithoutOptIn, function.dynamic_shared_limit + function.program->static_shared);
  if (launch.dynamic_shared + function.program->static_shared > allowed) {
    throw Problem(Code::invalid_value,
                  "kernel {}: {} bytes of shared memory, {} are allowed without cuFuncSetAttribute",
                  function.program->name, launch.dynamic_shared + function.program->static_shared, allowed);
  }
}

std::vector<std::byte> gather_parameters(const Program& program, void** parameters, void** extra) {
  std::vector<std::byte> bytes(program.parameter_bytes);
  if (extra != nullptr) {
    const void* buffer = nullptr;
    std::size_t size = 0;
    for (; *extra != nullptr; extra += 2) {  // CU_LAUNCH_PARAM_BUFFER_POINTER and _SIZE
      if (reinterpret_cast<std::uintptr_t>(extra[0]) == 1) buffer = extra[1];
      if (reinterpret_cast<std::uintptr_t>(extra[0]) == 2) size = *static_cast<std::size_t*>(extra[1]);
    }
    if (buffer == nullptr || size < bytes.size()) {
      throw Problem(Code::invalid_value, "kernel {}: {} bytes of parameters, it takes {}", program.name, size,
                    bytes.size());
    }
    std::memcpy(bytes.data(), buffer, bytes.size());
    return bytes;
  }
  if (parameters == nullptr && !program.parameters.empty()) {
    throw Problem(Code::invalid_value, "kernel {} has parameters, none were given", program.name);
  }
  for (std::size_t i = 0; i < program.parameters.size(); ++i) {
    if (parameters[i] == nullptr)
      throw Problem(Code::invalid_value, "kernel {}: parameter {} is null", program.name, i);
    std::memcpy(bytes.data() + program.parameters[i].at, parameters[i], program.parameters[i].bytes);
  }
  return bytes;
}

}  // namespace
}  // namespace standin

using namespace standin;  // NOLINT: the functions below are C's

extern "C" {

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  return guarded([&] { given(module) = load(image); });
}

CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned int count, CUjit_option* options,
                            void** values) {
  const CUresult result = cuModuleLoadData(module, image);
  if (result != 0) write_log(count, options, values);
  return result;
}

CUresult cuModuleUnload(CUmodule module) {
  return guarded([&] {
    const std::shared_ptr<System> system = ready_system();
    const std::shared_ptr<LoadedModule> removed = system->modules.remove(module);
    system->scheduler.wait_for_device(*removed->device);
  });
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  return guarded([&] {
    const std::shared_ptr<System> system = ready_system();
    const std::shared_ptr<LoadedModule> from = system->modules.get(module);
    const auto found = from->programs.find(name == nullptr ? "" : name);
    if (found == from->programs.end()) {
      throw Problem(Code::not_found, "the module has no kernel '{}'", name == nullptr ? "" : name);
    }
    auto made = std::make_shared<Function>();
    made->module = from;
    made->program = &found->second;
    given(function) = reinterpret_cast<CUfunction>(system->functions.add(std::move(made)));
  });
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr* address, size_t* bytes, CUmodule module, const char* name) {
  return guarded([&] {
    const std::shared_ptr<LoadedModule> from = ready_system()->modules.get(module);
    const auto found = from->addresses.find(name == nullptr ? "" : name);
    if (found == from->addresses.end()) {
      throw Problem(Code::not_found, "the module has no variable '{}'", name == nullptr ? "" : name);
    }
    if (address != nullptr) *address = found->second;
    if (bytes != nullptr) *bytes = from->sizes.at(found->first);
  });
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  return guarded([&] {
    constexpr CUfunction_attribute kMostDynamicShared = 8, kCarveout = 9;
    const std::shared_ptr<Function> of = ready_system()->functions.get(function);
    if (attribute == kCarveout) return;
    if (attribute != kMostDynamicShared || value < 0 ||
        static_cast<std::uint64_t>(value) + of->program->static_shared > kMostShared) {
      throw Problem(Code::invalid_value, "cuFuncSetAttribute {} = {} for kernel {}", attribute, value,
                    of->program->name);
    }
    of->dynamic_shared_limit = static_cast<std::uint64_t>(value);
  });
}

CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                        unsigned int block_x, unsigned int block_y, unsigned int block_z,
                        unsigned int shared_bytes, CUstream stream, void** parameters, void** extra) {
  return guarded([&] {
    const Device& device = current_device();
    System& system = *device.system;
    const std::shared_ptr<Function> what = system.functions.get(function);
    const std::shared_ptr<Stream> in = stream_of(stream);
    if (in->device != &device || what->module->device != &device) {
      throw Problem(Code::invalid_handle,
                    "kernel {} of device {} launched in a stream of device {}, device {} is current",
                    what->program->name, what->module->device->index, in->device->index, device.index);
    }
    Launch launch;
    launch.grid = {grid_x, grid_y, grid_z};
    launch.block = {block_x, block_y, block_z};
    launch.dynamic_shared = shared_bytes;
    check_shape(*what->program, launch);
    check_shared(*what, launch);
    launch.parameters = gather_parameters(*what->program, parameters, extra);
    system.launch(in, *what, std::move(launch));
  });
}

}  // extern "C"
