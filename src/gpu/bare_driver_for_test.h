// A driver without a device: it allocates, notes what it is asked for, and computes nothing.
#pragma once
#include <vector>

#include "base/error.h"
#include "gpu/driver.h"

namespace lockstep::gpu {

class BareHostMemory final : public HostMemory {
 public:
  explicit BareHostMemory(std::size_t size) : bytes_(size) {}
  std::span<std::byte> bytes() override { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

class BareDriver final : public Driver {
 public:
  BareDriver() {
    bare_facts.name = "bare:0";
    bare_facts.memory = bare_facts.largest_allocation = std::size_t{1} << 40;
  }

  Facts bare_facts;
  std::vector<std::size_t> allocations;  // bytes
  std::size_t most_allocations = 1 << 20;
  int writes = 0, waits = 0;

  const Facts& facts() const override { return bare_facts; }
  const Style& style() const override { return kLaneStyle; }
  std::size_t free_memory() const override { return bare_facts.memory; }
  std::unique_ptr<Memory> allocate(std::size_t bytes) override {
    if (allocations.size() == most_allocations) throw Error(Fault::device, "bare:0: no more memory");
    allocations.push_back(bytes);
    return std::make_unique<Memory>();
  }
  std::unique_ptr<Memory> part(const Memory&, std::size_t, std::size_t) override {
    return std::make_unique<Memory>();
  }
  std::unique_ptr<HostMemory> allocate_host(std::size_t bytes) override {
    return std::make_unique<BareHostMemory>(bytes);
  }
  void write(Queue, const Memory&, std::size_t, std::span<const std::byte>) override { ++writes; }
  void read(Queue, const Memory&, std::size_t, std::span<std::byte>) override {}
  void launch(Queue, std::string_view, std::span<const Argument>, std::size_t) override {}
  std::unique_ptr<Event> record(Queue) override { return std::make_unique<Event>(); }
  void after(Queue, const Event&) override {}
  void flush(Queue) override {}
  void wait(const Event&) override { ++waits; }
  bool reaches(const Driver&) const override { return false; }
  std::byte* address(const Memory&) const override { return nullptr; }
  void copy(std::span<const std::byte>, std::span<std::byte>) override {}
  Counters counters() const override { return {}; }
  void start_trace() override {}
  void name_spans(std::string) override {}
  std::vector<Span> take_spans() override { return {}; }
};

}  // namespace lockstep::gpu
