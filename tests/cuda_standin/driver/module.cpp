// Loads a module: PTX read, variables placed in device memory, kernels decoded.
#include <algorithm>
#include <cstring>

#include "driver/system.h"
#include "ptx/text.h"

namespace standin {
namespace {

std::shared_ptr<const std::vector<std::string>> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string line(text.substr(begin, end - begin));
    line.erase(0, std::min(line.find_first_not_of(" \t"), line.size()));
    for (char& c : line) c = c == '\t' ? ' ' : c;
    lines.push_back(std::move(line));
    begin = end + 1;
  }
  return std::make_shared<const std::vector<std::string>>(std::move(lines));
}

bool in_device_memory(const ptx::Variable& variable) {
  return variable.space == ptx::Space::global || variable.space == ptx::Space::constant;
}

// Variables are zero where nothing else is said.
void initialise(LoadedModule& module, const ptx::Variable& variable) {
  const std::uint64_t address = module.addresses.at(variable.name);
  const Window window = module.device->memory->find(address, variable.bytes, Access::read);
  std::memset(window.host, 0, variable.bytes);
  std::transform(variable.initial.begin(), variable.initial.end(), window.host,
                 [](std::uint8_t byte) { return static_cast<std::byte>(byte); });
  for (const ptx::Address& reference : variable.addresses) {
    const auto found = module.addresses.find(reference.symbol);
    if (found == module.addresses.end()) {
      throw Problem(Code::invalid_ptx,
                    "ptx line {}: the initial value of {} names '{}', which is not declared", variable.line,
                    variable.name, reference.symbol);
    }
    const std::uint64_t value = found->second + static_cast<std::uint64_t>(reference.addend);
    std::memcpy(window.host + reference.at, &value, sizeof value);
  }
}

}  // namespace

LoadedModule::~LoadedModule() {
  for (const auto& [name, address] : addresses) {
    try {
      device->memory->free(address);
    } catch (const Problem&) {
      continue;  // cuMemFree of a module's variable: reported when it happened
    }
  }
}

std::shared_ptr<LoadedModule> load_module(Device& device, std::string_view text) {
  const ptx::Module parsed = ptx::parse(text);
  const Configuration& configuration = device.system->configuration();
  if (parsed.target > configuration.capability) {
    throw Problem(Code::invalid_ptx, "the PTX is for sm_{}, the device is sm_{}", parsed.target,
                  configuration.capability);
  }
  auto module = std::make_shared<LoadedModule>();
  module->device = &device;
  for (const ptx::Variable& variable : parsed.variables) {
    if (!in_device_memory(variable)) continue;
    const auto use =
        variable.space == ptx::Space::constant ? DeviceMemory::Use::constant : DeviceMemory::Use::data;
    module->addresses[variable.name] = device.memory->allocate(variable.bytes, use);
    module->sizes[variable.name] = variable.bytes;
  }
  for (const ptx::Variable& variable : parsed.variables) {
    if (in_device_memory(variable)) initialise(*module, variable);
  }
  const auto source = lines_of(text);
  for (const ptx::Kernel& kernel : parsed.kernels) {
    module->programs[kernel.name] =
        decode({&parsed, &kernel, &module->addresses, source, configuration.defects});
  }
  return module;
}

}  // namespace standin
