// An executable and a device that stand in front of others and pass everything on; who wants something else
// of it overrides that.
#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "device/device.h"

namespace lockstep::device {

class PassingExecutable : public Executable {
 public:
  explicit PassingExecutable(std::unique_ptr<Executable> inner) : inner_(std::move(inner)) {}

  int add(const program::Program& program) override { return inner_->add(program); }
  void begin(int program) override { inner_->begin(program); }
  void upload(program::BufferId buffer, std::span<const float> values) override {
    inner_->upload(buffer, values);
  }
  void download(program::BufferId buffer, std::span<float> values) const override {
    inner_->download(buffer, values);
  }
  std::span<const float> parameter(program::BufferId buffer) const override {
    return inner_->parameter(buffer);
  }
  void download_activation(program::BufferId buffer, int example, std::span<float> values) const override {
    inner_->download_activation(buffer, example, values);
  }
  std::span<std::int64_t> counts(program::BufferId buffer) override { return inner_->counts(buffer); }
  void run(std::size_t segment, const StepInput& input, Watcher& watcher) override {
    inner_->run(segment, input, watcher);
  }
  bool works_in_background() const override { return inner_->works_in_background(); }
  std::vector<WorkSpan> take_spans() override { return inner_->take_spans(); }
  std::span<std::byte> bytes(const Transfer& transfer) override { return inner_->bytes(transfer); }
  void publish(std::span<const Transfer> transfers) override { inner_->publish(transfers); }
  void deliver(std::span<const Transfer> transfers) override { inner_->deliver(transfers); }
  bool joins_beside_work() const override { return inner_->joins_beside_work(); }
  void join(std::span<const program::Join> joins, const StepInput& input) override {
    inner_->join(joins, input);
  }
  const Executable& itself() const override { return inner_->itself(); }

 protected:
  Executable& inner() const { return *inner_; }

 private:
  const std::unique_ptr<Executable> inner_;
};

class PassingDevice : public Device {
 public:
  // Of a device that outlives it.
  explicit PassingDevice(Device& inner) : inner_(inner) {}

  std::string name() const override { return inner_.name(); }
  std::string model() const override { return inner_.model(); }
  std::unique_ptr<Executable> load(const program::Program& program, const LoadOptions& options) override {
    return inner_.load(program, options);
  }
  program::MemoryPlan plan(const program::Program& program, const LoadOptions& options) override {
    return inner_.plan(program, options);
  }
  FreeMemory free_memory() const override { return inner_.free_memory(); }
  std::unique_ptr<ThreadPlace> adopt_thread() override { return inner_.adopt_thread(); }
  const Device& itself() const override { return inner_.itself(); }
  bool reaches(const Device& other) const override { return inner_.reaches(other); }
  void copy(std::span<const std::byte> from, std::span<std::byte> to) override { inner_.copy(from, to); }

 private:
  Device& inner_;
};

}  // namespace lockstep::device
