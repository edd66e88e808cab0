#include "measure/exchange_work.h"

#include <algorithm>

namespace lockstep::measure {
namespace {

namespace exchange = program::exchange;

struct Count {
  DeviceWork& work;

  static std::size_t bytes(const exchange::Range& range) { return range.count * sizeof(float); }
  void operator()(const exchange::Send& o) const { work.sent += bytes(o.place.range); }
  void operator()(const exchange::Receive& o) const {
    const bool subtree = o.place.of == exchange::Place::Of::inbox;
    (subtree ? work.gathered : work.returned) += bytes(o.place.range);
  }
  void operator()(const exchange::Join& o) const { work.joined += o.subtrees.size() * bytes(o.range); }
  template <class Other>
  void operator()(const Other&) const {}
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

std::vector<DeviceWork> work_of(std::span<const exchange::List> lists) {
  std::vector<DeviceWork> work;
  for (const exchange::List& list : lists) {
    const Count count{work.emplace_back()};
    for (const exchange::Instruction& instruction : list) std::visit(count, instruction.operation);
  }
  return work;
}

std::size_t bytes_in_all(std::span<const DeviceWork> work) {
  std::size_t bytes = 0;
  for (const DeviceWork& device : work) bytes += device.received();
  return bytes;
}

double longest_path(std::span<const DeviceWork> work, int cores) {
  return round_of(work, cores, [](const DeviceWork& d) { return d.gathered + d.joined; }) +
         round_of(work, cores, [](const DeviceWork& d) { return d.returned; });
}

}  // namespace lockstep::measure
