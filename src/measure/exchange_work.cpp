#include "measure/exchange_work.h"

#include <algorithm>

namespace lockstep::measure {
namespace {

struct Count {
  const program::Program& program;
  DeviceWork& work;

  program::Role role(const program::Region& region) const {
    return program.buffers[static_cast<std::size_t>(region.buffer)].role;
  }
  std::size_t bytes(const program::Region& region) const {
    return role(region) == program::Role::counts ? 0 : program::region_bytes(program, region);
  }
  void operator()(const program::Send& o) const { work.sent += bytes(o.region); }
  void operator()(const program::Receive& o) const {
    (role(o.region) == program::Role::inbox ? work.collected : work.returned) += bytes(o.region);
  }
  void operator()(const program::Join& o) const { work.joined += o.inputs.size() * bytes(o.output); }
};

template <class Bytes>
double round_of(std::span<const DeviceWork> work, int cores, const Bytes& bytes) {
  std::size_t most = 0, all = 0;
  for (const DeviceWork& device : work) {
    most = std::max(most, bytes(device));
    all += bytes(device);
  }
  return std::max(static_cast<double>(most), static_cast<double>(all) / cores);
}

}  // namespace

std::vector<DeviceWork> work_of(std::span<const program::Program> programs) {
  std::vector<DeviceWork> work;
  for (const program::Program& program : programs) {
    const Count count{program, work.emplace_back()};
    for (const program::ExchangeInstruction& instruction : program.exchange)
      std::visit(count, instruction.operation);
  }
  return work;
}

std::size_t bytes_in_all(std::span<const DeviceWork> work) {
  std::size_t bytes = 0;
  for (const DeviceWork& device : work) bytes += device.received();
  return bytes;
}

double longest_path(std::span<const DeviceWork> work, int cores) {
  return round_of(work, cores, [](const DeviceWork& d) { return d.collected + d.joined; }) +
         round_of(work, cores, [](const DeviceWork& d) { return d.returned; });
}

}  // namespace lockstep::measure
