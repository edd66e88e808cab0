#include "measure/unordered_crew.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "device/cpu/cores.h"
#include "measure/unordered_exchange.h"

namespace lockstep::measure {
namespace {

namespace exchange = program::exchange;
using device::StepInput;
using program::BufferId;

constexpr std::size_t kChunk = 1024;  // as the device's own joins go

// Passes everything on but joins that only add.
class UnorderedExecutable final : public device::Executable {
 public:
  UnorderedExecutable(std::unique_ptr<device::Executable> inner, const device::cpu::Kernels& kernels)
      : inner_(std::move(inner)), kernels_(kernels) {}

  void upload(BufferId buffer, std::span<const float> values) override { inner_->upload(buffer, values); }
  void download(BufferId buffer, std::span<float> values) const override { inner_->download(buffer, values); }
  std::span<const float> parameter(BufferId buffer) const override { return inner_->parameter(buffer); }
  void download_activation(BufferId buffer, int example, std::span<float> values) const override {
    inner_->download_activation(buffer, example, values);
  }
  std::vector<std::int64_t> tally() const override { return inner_->tally(); }
  bool run(std::size_t segment, const StepInput& input, device::Watcher& watcher) override {
    return inner_->run(segment, input, watcher);
  }
  void reserve_inbox(std::size_t floats) override { inner_->reserve_inbox(floats); }
  std::span<float> numbers(const exchange::Place& place) override { return inner_->numbers(place); }
  bool works_in_background() const override { return inner_->works_in_background(); }
  std::vector<device::WorkSpan> take_spans() override { return inner_->take_spans(); }
  void publish(std::span<const exchange::Place> places) override { inner_->publish(places); }
  void deliver(std::span<const exchange::Place> places) override { inner_->deliver(places); }
  bool joins_beside_work() const override { return inner_->joins_beside_work(); }
  bool check(std::span<const exchange::Range> gradients) override { return inner_->check(gradients); }
  void update(std::span<const exchange::Update> updates, const StepInput& input) override {
    inner_->update(updates, input);
  }

  void join(std::span<const exchange::Join> joins, const StepInput& input) override {
    std::vector<exchange::Join> others;
    for (const exchange::Join& join : joins) {
      if (only_adds(join)) {
        add(join);
      } else {
        others.push_back(join);
      }
    }
    if (!others.empty()) inner_->join(others, input);
  }

 private:
  void add(const exchange::Join& join) {
    std::vector<float*> sums;
    sums.reserve(join.subtrees.size());
    for (const exchange::Place& place : join.subtrees) sums.push_back(inner_->numbers(place).data());
    for (std::size_t first = 0; first < join.range.count; first += kChunk) {
      const std::size_t count = std::min(kChunk, join.range.count - first);
      for (const arithmetic::JoinPair& pair : join.pairs) {
        kernels_.add(sums[static_cast<std::size_t>(pair.into)] + first,
                     sums[static_cast<std::size_t>(pair.from)] + first, count);
      }
    }
  }

  const std::unique_ptr<device::Executable> inner_;
  const device::cpu::Kernels& kernels_;
};

class UnorderedDevice final : public device::Device {
 public:
  UnorderedDevice(std::shared_ptr<run::Crew> crew, int index, const device::cpu::Kernels& kernels)
      : crew_(std::move(crew)), inner_(crew_->device(index)), kernels_(kernels) {}

  std::string name() const override { return inner_.name(); }
  std::string model() const override { return inner_.model(); }
  std::unique_ptr<device::Executable> load(const program::Program& program,
                                           const device::LoadOptions& options) override {
    return std::make_unique<UnorderedExecutable>(inner_.load(program, options), kernels_);
  }
  std::unique_ptr<device::ThreadPlace> adopt_thread() override { return inner_.adopt_thread(); }
  bool reaches(const device::Device& other) const override { return inner_.reaches(other); }
  void copy(std::span<const float> from, std::span<float> to) override { inner_.copy(from, to); }

 private:
  const std::shared_ptr<run::Crew> crew_;  // owns the device; its own workers sleep
  device::Device& inner_;
  const device::cpu::Kernels& kernels_;
};

}  // namespace

std::unique_ptr<run::Crew> make_unordered_crew(std::unique_ptr<run::Crew> crew,
                                               const device::cpu::Kernels& kernels) {
  const std::shared_ptr<run::Crew> shared = std::move(crew);
  std::vector<std::unique_ptr<device::Device>> devices;
  devices.reserve(static_cast<std::size_t>(shared->size()));
  for (int index = 0; index < shared->size(); ++index)
    devices.push_back(std::make_unique<UnorderedDevice>(shared, index, kernels));
  return std::make_unique<run::Crew>(
      std::move(devices), run::Crew::Options{.share_cores = shared->size() > device::cpu::usable_cores()});
}

}  // namespace lockstep::measure
