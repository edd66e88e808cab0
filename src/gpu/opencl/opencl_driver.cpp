#include "gpu/opencl/opencl_driver.h"

#include <array>
#include <map>

#include "base/error.h"
#include "gpu/kernel_source.h"
#include "gpu/opencl/program.h"

namespace lockstep::gpu::opencl {
namespace {

// Contraction is switched off in the source itself.
constexpr const char* kBuildOptions = "-cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt";

class ClMemory : public Memory {
 public:
  explicit ClMemory(OwnedMem memory) : memory_(std::move(memory)) {}
  Mem get() const { return memory_.get(); }

 private:
  const OwnedMem memory_;
};

// Memory of its own, not a part of another's, counted for as long as it is taken.
class ClWholeMemory final : public ClMemory {
 public:
  ClWholeMemory(OwnedMem memory, std::size_t bytes, std::size_t& taken)
      : ClMemory(std::move(memory)), bytes_(bytes), taken_(taken) {
    taken_ += bytes_;
  }
  ~ClWholeMemory() override { taken_ -= bytes_; }

 private:
  const std::size_t bytes_;
  std::size_t& taken_;
};

// Memory that the driver has allocated for fast copies, mapped for as long as it lives.
class ClHostMemory final : public HostMemory {
 public:
  ClHostMemory(const Api& api, CommandQueue queue, OwnedMem memory, std::span<std::byte> mapped)
      : api_(api), queue_(queue), memory_(std::move(memory)), mapped_(mapped) {}
  ~ClHostMemory() override {
    api_.EnqueueUnmapMemObject(queue_, memory_.get(), mapped_.data(), 0, nullptr, nullptr);
    api_.Finish(queue_);
  }
  std::span<std::byte> bytes() override { return mapped_; }

 private:
  const Api& api_;
  CommandQueue queue_;
  const OwnedMem memory_;
  const std::span<std::byte> mapped_;
};

class ClMark final : public Event {
 public:
  ClMark(OwnedEvent event, CommandQueue queue) : event_(std::move(event)), queue_(queue) {}
  ClEvent get() const { return event_.get(); }
  CommandQueue queue() const { return queue_; }

 private:
  const OwnedEvent event_;
  CommandQueue queue_;
};

class OpenClDriver final : public Driver {
 public:
  OpenClDriver(std::shared_ptr<const Library> library, OpenClOptions options)
      : library_(std::move(library)), api_(library_->api()), options_(std::move(options)) {
    create();
  }
  ~OpenClDriver() override {
    for (const OwnedQueue& queue : queues_) api_.Finish(queue.get());
  }
  OpenClDriver(const OpenClDriver&) = delete;
  OpenClDriver& operator=(const OpenClDriver&) = delete;

  const Facts& facts() const override { return options_.found.facts; }
  const Style& style() const override { return options_.style; }
  Counters counters() const override { return counters_; }

  // OpenCL does not say what others have taken.
  std::size_t free_memory() const override { return facts().memory - std::min(taken_, facts().memory); }
  std::unique_ptr<Memory> allocate(std::size_t bytes) override {
    return std::make_unique<ClWholeMemory>(create_buffer(kMemReadWrite, bytes), bytes, taken_);
  }

  std::unique_ptr<Memory> part(const Memory& memory, std::size_t offset, std::size_t bytes) override {
    const BufferRegion region{offset, bytes};
    Int error = kSuccess;
    OwnedMem part(api_.CreateSubBuffer(raw(memory), kMemReadWrite, kBufferCreateTypeRegion, &region, &error),
                  {&api_});
    expect(error, "clCreateSubBuffer");
    return std::make_unique<ClMemory>(std::move(part));
  }

  std::unique_ptr<HostMemory> allocate_host(std::size_t bytes) override {
    OwnedMem memory = create_buffer(kMemReadWrite | kMemAllocHostPtr, bytes);
    Int error = kSuccess;
    void* const mapped = api_.EnqueueMapBuffer(raw(Queue::compute), memory.get(), 1, kMapRead | kMapWrite, 0,
                                               bytes, 0, nullptr, nullptr, &error);
    expect(error, "clEnqueueMapBuffer");
    return std::make_unique<ClHostMemory>(api_, raw(Queue::compute), std::move(memory),
                                          std::span(static_cast<std::byte*>(mapped), bytes));
  }

  void write(Queue queue, const Memory& to, std::size_t offset, std::span<const std::byte> from) override {
    if (from.empty()) return;
    ClEvent event = nullptr;
    expect(api_.EnqueueWriteBuffer(raw(queue), raw(to), 0, offset, from.size(), from.data(), 0, nullptr,
                                   tracing_ ? &event : nullptr),
           "clEnqueueWriteBuffer");
    keep(queue, "copy to the device", event);
  }
  void read(Queue queue, const Memory& from, std::size_t offset, std::span<std::byte> to) override {
    if (to.empty()) return;
    ClEvent event = nullptr;
    expect(api_.EnqueueReadBuffer(raw(queue), raw(from), 0, offset, to.size(), to.data(), 0, nullptr,
                                  tracing_ ? &event : nullptr),
           "clEnqueueReadBuffer");
    keep(queue, "copy to the host", event);
  }

  void launch(Queue queue, std::string_view kernel, std::span<const Argument> arguments,
              std::size_t work_items) override {
    if (work_items == 0) return;
    Kernel k = kernel_named(kernel);
    for (std::size_t i = 0; i < arguments.size(); ++i) set_argument(k, kernel, i, arguments[i]);
    const auto group = static_cast<std::size_t>(options_.style.work_group);
    const std::size_t size = (work_items + group - 1) / group * group;
    ClEvent event = nullptr;
    expect(api_.EnqueueNDRangeKernel(raw(queue), k, 1, nullptr, &size, &group, 0, nullptr,
                                     tracing_ ? &event : nullptr),
           kernel);
    keep(queue, kernel, event);
    ++counters_.launches;
  }

  std::unique_ptr<Event> record(Queue queue) override {
    ClEvent event = nullptr;
    expect(api_.EnqueueMarkerWithWaitList(raw(queue), 0, nullptr, &event), "clEnqueueMarkerWithWaitList");
    return std::make_unique<ClMark>(OwnedEvent(event, {&api_}), raw(queue));
  }
  void after(Queue queue, const Event& event) override {
    const auto& mark = static_cast<const ClMark&>(event);
    ClEvent before = mark.get();
    // What another queue waits for must be on its way, or neither goes on.
    if (mark.queue() != raw(queue)) expect(api_.Flush(mark.queue()), "clFlush");
    expect(api_.EnqueueBarrierWithWaitList(raw(queue), 1, &before, nullptr), "clEnqueueBarrierWithWaitList");
  }
  void flush(Queue queue) override { expect(api_.Flush(raw(queue)), "clFlush"); }
  void wait(const Event& event) override {
    ++counters_.waits;
    ClEvent awaited = static_cast<const ClMark&>(event).get();
    expect(api_.WaitForEvents(1, &awaited), "clWaitForEvents");
  }

  // OpenCL 1.2 copies within a context, and every device has its own.
  bool reaches(const Driver&) const override { return false; }
  std::byte* address(const Memory&) const override {
    throw Error(Fault::ours, "defect: memory of OpenCL has no address");
  }
  void copy(std::span<const std::byte>, std::span<std::byte>) override {
    throw Error(Fault::ours, "defect: OpenCL does not copy between devices");
  }

  void start_trace() override {
    if (tracing_) return;
    tracing_ = true;
    // One point in time on both clocks.
    const std::unique_ptr<Event> now = record(Queue::compute);
    ClEvent event = static_cast<const ClMark&>(*now).get();
    expect(api_.WaitForEvents(1, &event), "clWaitForEvents");
    host_clock_ = std::chrono::steady_clock::now();
    device_clock_ = time_of(event, kProfilingCommandEnd);
  }
  void name_spans(std::string name) override { span_name_ = std::move(name); }
  std::vector<Span> take_spans() override {
    for (const OwnedQueue& queue : queues_) expect(api_.Finish(queue.get()), "clFinish");
    std::vector<Span> spans;
    spans.reserve(kept_.size());
    for (const auto& [span, event] : kept_) {
      spans.push_back(span);
      spans.back().start = on_host(time_of(event->get(), kProfilingCommandStart));
      spans.back().end = on_host(time_of(event->get(), kProfilingCommandEnd));
    }
    kept_.clear();
    return spans;
  }

 private:
  struct Kept {
    Span span;
    std::unique_ptr<ClMark> event;
  };

  void create() {
    if (options_.part) {
      Uint units = 0;
      expect(api_.GetDeviceInfo(device(), kDeviceMaxComputeUnits, sizeof units, &units, nullptr),
             "clGetDeviceInfo");
      options_.found.facts.units = static_cast<int>(units);
    }
    const std::array<Property, 3> properties{kContextPlatform,
                                             reinterpret_cast<Property>(options_.found.platform), 0};
    DeviceId id = device();
    Int error = kSuccess;
    context_ = {api_.CreateContext(properties.data(), 1, &id, nullptr, nullptr, &error), {&api_}};
    expect(error, "clCreateContext");
    for (OwnedQueue& queue : queues_) {
      queue = {api_.CreateCommandQueue(context_.get(), id, kQueueProfilingEnable, &error), {&api_}};
      expect(error, "clCreateCommandQueue");
    }
    const std::string more = options_.more_build_options.empty() ? "" : " " + options_.more_build_options;
    options_.found.facts.build = fmt::format("{}{}", kBuildOptions, more);
    program_ = build_program(api_, context_.get(), id,
                             {.facts = facts(),
                              .vector_floats = options_.found.vector_floats,
                              .source = kernel_source(options_.style),
                              .cache = options_.cache});
  }

  void keep(Queue queue, std::string_view what, ClEvent event) {
    if (event == nullptr) return;
    OwnedEvent owned(event, {&api_});
    kept_.push_back({{queue, fmt::format("{}: {}", span_name_, what)},
                     std::make_unique<ClMark>(std::move(owned), raw(queue))});
  }
  std::uint64_t time_of(ClEvent event, Uint what) const {
    std::uint64_t nanoseconds = 0;
    expect(api_.GetEventProfilingInfo(event, what, sizeof nanoseconds, &nanoseconds, nullptr),
           "clGetEventProfilingInfo");
    return nanoseconds;
  }
  std::chrono::steady_clock::time_point on_host(std::uint64_t device_time) const {
    return host_clock_ + std::chrono::nanoseconds(static_cast<std::int64_t>(device_time - device_clock_));
  }

  DeviceId device() const { return options_.part ? options_.part.get() : options_.found.device; }
  CommandQueue raw(Queue queue) const { return queues_[static_cast<std::size_t>(queue)].get(); }
  static Mem raw(const Memory& memory) { return static_cast<const ClMemory&>(memory).get(); }
  void expect(Int error, std::string_view call) const { Library::expect(error, facts().name, call); }

  OwnedMem create_buffer(Bitfield flags, std::size_t bytes) {
    Int error = kSuccess;
    OwnedMem memory(api_.CreateBuffer(context_.get(), flags, bytes, nullptr, &error), {&api_});
    expect(error, "clCreateBuffer");
    return memory;
  }

  void set_argument(Kernel kernel, std::string_view name, std::size_t index, const Argument& argument) {
    const Int error = std::visit(
        [&](const auto& value) {
          if constexpr (std::is_same_v<std::decay_t<decltype(value)>, const Memory*>) {
            Mem memory = raw(*value);
            return api_.SetKernelArg(kernel, static_cast<Uint>(index), sizeof(void*), &memory);
          } else {
            return api_.SetKernelArg(kernel, static_cast<Uint>(index), sizeof value, &value);
          }
        },
        argument);
    if (error != kSuccess) expect(error, fmt::format("argument {} of {}", index, name));
  }

  Kernel kernel_named(std::string_view name) {
    const auto found = kernels_.find(name);
    if (found != kernels_.end()) return found->second.get();
    Int error = kSuccess;
    const std::string text(name);
    OwnedKernel kernel(api_.CreateKernel(program_.get(), text.c_str(), &error), {&api_});
    expect(error, "kernel " + text);
    return kernels_.emplace(text, std::move(kernel)).first->second.get();
  }

  const std::shared_ptr<const Library> library_;
  const Api& api_;
  OpenClOptions options_;
  OwnedContext context_;
  OwnedProgram program_;
  std::map<std::string, OwnedKernel, std::less<>> kernels_;
  std::array<OwnedQueue, kQueues> queues_;
  Counters counters_;
  std::size_t taken_ = 0;  // bytes

  bool tracing_ = false;
  std::string span_name_;
  std::chrono::steady_clock::time_point host_clock_ = {};
  std::uint64_t device_clock_ = 0;
  std::vector<Kept> kept_;
};

}  // namespace

std::unique_ptr<Driver> make_opencl_driver(std::shared_ptr<const Library> library, OpenClOptions options) {
  return std::make_unique<OpenClDriver>(std::move(library), std::move(options));
}

std::vector<OwnedDevice> divide(const Library& library, const Found& found, std::span<const int> units) {
  std::vector<Property> properties{kDevicePartitionByCounts};
  properties.insert(properties.end(), units.begin(), units.end());
  properties.insert(properties.end(), {kDevicePartitionByCountsListEnd, 0});
  std::vector<DeviceId> parts(units.size());
  std::vector<OwnedDevice> owned;
  owned.reserve(parts.size());
  Library::expect(library.api().CreateSubDevices(found.device, properties.data(),
                                                 static_cast<Uint>(parts.size()), parts.data(), nullptr),
                  found.facts.name,
                  fmt::format("dividing its {} units among {} devices", found.facts.units, units.size()));
  for (DeviceId part : parts) owned.emplace_back(part, OwnedDevice::deleter_type{&library.api()});
  return owned;
}

}  // namespace lockstep::gpu::opencl
