#include "measure/unordered_crew.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "cpu/cores.h"
#include "device/passing_on.h"
#include "measure/unordered_exchange.h"

namespace lockstep::measure {
namespace {

namespace exchange = program::exchange;
using device::StepInput;

constexpr std::size_t kChunk = 1024;  // as the device's own joins go

// Passes everything on but joins that only add.
class UnorderedExecutable final : public device::PassingExecutable {
 public:
  UnorderedExecutable(std::unique_ptr<device::Executable> inner, const cpu::Kernels& kernels)
      : PassingExecutable(std::move(inner)), kernels_(kernels) {}

  void join(std::span<const exchange::Join> joins, const StepInput& input) override {
    std::vector<exchange::Join> others;
    for (const exchange::Join& join : joins) {
      if (only_adds(join)) {
        add(join);
      } else {
        others.push_back(join);
      }
    }
    if (!others.empty()) PassingExecutable::join(others, input);
  }

 private:
  void add(const exchange::Join& join) {
    std::vector<float*> sums;
    sums.reserve(join.subtrees.size());
    for (const exchange::Place& place : join.subtrees) sums.push_back(numbers(place).data());
    for (std::size_t first = 0; first < join.range.count; first += kChunk) {
      const std::size_t count = std::min(kChunk, join.range.count - first);
      for (const arithmetic::JoinPair& pair : join.pairs) {
        kernels_.add(sums[static_cast<std::size_t>(pair.into)] + first,
                     sums[static_cast<std::size_t>(pair.from)] + first, count);
      }
    }
  }

  const cpu::Kernels& kernels_;
};

class UnorderedDevice final : public device::PassingDevice {
 public:
  UnorderedDevice(std::shared_ptr<run::Crew> crew, int index, const cpu::Kernels& kernels)
      : PassingDevice(crew->device(index)), crew_(std::move(crew)), kernels_(kernels) {}

  std::unique_ptr<device::Executable> load(const program::Program& program,
                                           const device::LoadOptions& options) override {
    return std::make_unique<UnorderedExecutable>(PassingDevice::load(program, options), kernels_);
  }

 private:
  const std::shared_ptr<run::Crew> crew_;  // owns the device; its own workers sleep
  const cpu::Kernels& kernels_;
};

}  // namespace

std::unique_ptr<run::Crew> make_unordered_crew(std::unique_ptr<run::Crew> crew, const cpu::Kernels& kernels) {
  const std::shared_ptr<run::Crew> shared = std::move(crew);
  std::vector<std::unique_ptr<device::Device>> devices;
  devices.reserve(static_cast<std::size_t>(shared->size()));
  for (int index = 0; index < shared->size(); ++index)
    devices.push_back(std::make_unique<UnorderedDevice>(shared, index, kernels));
  return std::make_unique<run::Crew>(std::move(devices),
                                     run::Crew::Options{.share_cores = shared->size() > cpu::usable_cores()});
}

}  // namespace lockstep::measure
