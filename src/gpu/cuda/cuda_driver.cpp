#include "gpu/cuda/cuda_driver.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>

#include "base/error.h"
#include "base/hash.h"
#include "gpu/build_log.h"
#include "gpu/cuda/compiler.h"
#include "gpu/cuda/owned.h"
#include "gpu/kernel_source.h"

namespace lockstep::gpu::cuda {
namespace {

constexpr std::size_t kMostArguments = 16;
constexpr std::size_t kMostBlocks =
    std::numeric_limits<std::int32_t>::max();  // of a launch, in its first dimension

class CudaMemory final : public Memory {
 public:
  explicit CudaMemory(DevicePointer pointer) : pointer_(pointer) {}
  CudaMemory(const HeldContext& context, DevicePointer pointer) : context_(&context), pointer_(pointer) {}
  ~CudaMemory() override {
    if (context_ != nullptr && context_->use() == kSuccess) context_->api().MemFree(pointer_);
  }
  DevicePointer get() const { return pointer_; }

 private:
  const HeldContext* const context_ = nullptr;  // null: a part of other memory
  const DevicePointer pointer_;
};

// Memory that stays where it is, so that the device copies by itself.
class CudaHostMemory final : public HostMemory {
 public:
  CudaHostMemory(const HeldContext& context, std::span<std::byte> bytes) : context_(context), bytes_(bytes) {}
  ~CudaHostMemory() override {
    if (context_.use() == kSuccess) context_.api().MemFreeHost(bytes_.data());
  }
  std::span<std::byte> bytes() override { return bytes_; }

 private:
  const HeldContext& context_;
  const std::span<std::byte> bytes_;
};

class CudaMark final : public Event {
 public:
  explicit CudaMark(OwnedEvent event) : event_(std::move(event)) {}
  CuEvent get() const { return event_.get(); }

 private:
  const OwnedEvent event_;
};

class CudaDriver final : public Driver {
 public:
  CudaDriver(std::shared_ptr<const Library> library, CudaOptions options)
      : library_(std::move(library)),
        api_(library_->api()),
        options_(std::move(options)),
        context_(*library_, options_.found) {
    use();
    for (OwnedStream& stream : streams_) {
      Stream created = nullptr;
      expect(api_.StreamCreate(&created, kStreamNonBlocking), "cuStreamCreate");
      stream = {created, {&context_}};
    }
    build();
  }

  ~CudaDriver() override {
    if (context_.use() != kSuccess) return;
    for (const OwnedStream& stream : streams_) api_.StreamSynchronize(stream.get());
  }

  const Facts& facts() const override { return facts_; }
  const Style& style() const override { return options_.style; }
  Counters counters() const override { return counters_; }

  std::size_t free_memory() const override {
    use();
    std::size_t free = 0, total = 0;
    expect(api_.MemGetInfo(&free, &total), "cuMemGetInfo");
    return free;
  }
  std::unique_ptr<Memory> allocate(std::size_t bytes) override {
    use();
    DevicePointer pointer = 0;
    expect(api_.MemAlloc(&pointer, bytes), "cuMemAlloc");
    return std::make_unique<CudaMemory>(context_, pointer);
  }

  std::unique_ptr<Memory> part(const Memory& memory, std::size_t offset, std::size_t) override {
    return std::make_unique<CudaMemory>(raw(memory) + offset);
  }

  std::unique_ptr<HostMemory> allocate_host(std::size_t bytes) override {
    use();
    void* pointer = nullptr;
    expect(api_.MemAllocHost(&pointer, bytes), "cuMemAllocHost");
    return std::make_unique<CudaHostMemory>(context_, std::span(static_cast<std::byte*>(pointer), bytes));
  }

  void write(Queue queue, const Memory& to, std::size_t offset, std::span<const std::byte> from) override {
    if (from.empty()) return;
    use();
    const Timed timed(*this, queue, "copy to the device");
    expect(api_.MemcpyHtoDAsync(raw(to) + offset, from.data(), from.size(), raw(queue)), "cuMemcpyHtoDAsync");
  }
  void read(Queue queue, const Memory& from, std::size_t offset, std::span<std::byte> to) override {
    if (to.empty()) return;
    use();
    const Timed timed(*this, queue, "copy to the host");
    expect(api_.MemcpyDtoHAsync(to.data(), raw(from) + offset, to.size(), raw(queue)), "cuMemcpyDtoHAsync");
  }

  void launch(Queue queue, std::string_view kernel, std::span<const Argument> arguments,
              std::size_t work_items) override {
    if (work_items == 0) return;
    use();
    const auto group = static_cast<std::size_t>(options_.style.work_group);
    const std::size_t blocks = (work_items + group - 1) / group;
    check(blocks <= kMostBlocks && arguments.size() <= kMostArguments, "{} has {} blocks and {} arguments",
          kernel, blocks, arguments.size());
    // CUDA takes a pointer to each argument, and copies it before it returns.
    std::array<DevicePointer, kMostArguments> memories{};
    std::array<void*, kMostArguments> pointers{};
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (const Memory* const* const memory = std::get_if<const Memory*>(&arguments[i])) {
        memories[i] = raw(**memory);
        pointers[i] = &memories[i];
      } else {
        pointers[i] = std::visit(
            [](const auto& value) -> void* { return const_cast<void*>(static_cast<const void*>(&value)); },
            arguments[i]);
      }
    }
    const Timed timed(*this, queue, kernel);
    const Result error =
        api_.LaunchKernel(kernel_named(kernel), static_cast<unsigned>(blocks), 1, 1,
                          static_cast<unsigned>(group), 1, 1, 0, raw(queue), pointers.data(), nullptr);
    if (error != kSuccess) expect(error, fmt::format("cuLaunchKernel of {}", kernel));
    ++counters_.launches;
  }

  std::unique_ptr<Event> record(Queue queue) override { return mark(queue, kEventDisableTiming); }
  void after(Queue queue, const Event& event) override {
    use();
    expect(api_.StreamWaitEvent(raw(queue), raw(event), 0), "cuStreamWaitEvent");
  }
  void flush(Queue) override {}  // a stream begins by itself
  void wait(const Event& event) override {
    ++counters_.waits;
    use();
    expect(api_.EventSynchronize(raw(event)), "cuEventSynchronize");
  }

  bool reaches(const Driver& other) const override {
    const auto* const peer = dynamic_cast<const CudaDriver*>(&other);
    if (peer == nullptr || peer->library_ != library_) return false;
    int able = 0;
    expect(api_.DeviceCanAccessPeer(&able, options_.found.device, peer->options_.found.device),
           "cuDeviceCanAccessPeer");
    if (able == 0) return false;
    use();
    const Result error = api_.CtxEnablePeerAccess(peer->context_.get(), 0);
    return error == kSuccess || error == kPeerAccessAlreadyEnabled;
  }
  std::byte* address(const Memory& memory) const override {
    // All memory has addresses of one space. NOLINTNEXTLINE(performance-no-int-to-ptr)
    return reinterpret_cast<std::byte*>(raw(memory));
  }
  void copy(std::span<const std::byte> from, std::span<std::byte> to) override {
    use();
    expect(api_.MemcpyAsync(reinterpret_cast<DevicePointer>(to.data()),
                            reinterpret_cast<DevicePointer>(from.data()), from.size(), raw(Queue::exchange)),
           "cuMemcpyAsync");
    wait(*record(Queue::exchange));
  }

  void start_trace() override {
    if (origin_) return;
    // One point in time on both clocks.
    origin_ = mark(Queue::compute, kEventDefault);
    expect(api_.EventSynchronize(raw(*origin_)), "cuEventSynchronize");
    host_clock_ = std::chrono::steady_clock::now();
  }
  void name_spans(std::string name) override { span_name_ = std::move(name); }
  std::vector<Span> take_spans() override {
    if (!origin_) return {};
    use();
    for (const OwnedStream& stream : streams_)
      expect(api_.StreamSynchronize(stream.get()), "cuStreamSynchronize");
    std::vector<Span> spans;
    spans.reserve(kept_.size());
    for (const auto& [span, start, end] : kept_) {
      spans.push_back(span);
      spans.back().start = on_host(*start);
      spans.back().end = on_host(*end);
    }
    kept_.clear();
    // Times are floats since the origin: a new one keeps them exact.
    origin_.reset();
    start_trace();
    return spans;
  }

 private:
  struct Kept {
    Span span;
    std::unique_ptr<CudaMark> start, end;
  };

  // An event before and one behind what is put into a queue while it lives.
  class Timed {
   public:
    Timed(CudaDriver& driver, Queue queue, std::string_view what) : driver_(driver), queue_(queue) {
      if (!driver.origin_) return;
      kept_.span = {queue, fmt::format("{}: {}", driver.span_name_, what)};
      kept_.start = driver.mark(queue, kEventDefault);
    }
    ~Timed() {
      if (!kept_.start) return;
      try {
        kept_.end = driver_.mark(queue_, kEventDefault);
        driver_.kept_.push_back(std::move(kept_));
      } catch (const Error&) {
        // The device is lost; its next use says so.
      }
    }
    Timed(const Timed&) = delete;
    Timed& operator=(const Timed&) = delete;

   private:
    CudaDriver& driver_;
    const Queue queue_;
    Kept kept_;
  };

  std::unique_ptr<CudaMark> mark(Queue queue, unsigned flags) {
    use();
    CuEvent event = nullptr;
    expect(api_.EventCreate(&event, flags), "cuEventCreate");
    auto made = std::make_unique<CudaMark>(OwnedEvent(event, {&context_}));
    expect(api_.EventRecord(event, raw(queue)), "cuEventRecord");
    return made;
  }
  std::chrono::steady_clock::time_point on_host(const CudaMark& event) const {
    float milliseconds = 0;
    expect(api_.EventElapsedTime(&milliseconds, raw(*origin_), event.get()), "cuEventElapsedTime");
    return host_clock_ + std::chrono::nanoseconds(static_cast<std::int64_t>(milliseconds * 1e6));
  }

  Stream raw(Queue queue) const { return streams_[static_cast<std::size_t>(queue)].get(); }
  static DevicePointer raw(const Memory& memory) { return static_cast<const CudaMemory&>(memory).get(); }
  static CuEvent raw(const Event& event) { return static_cast<const CudaMark&>(event).get(); }
  void use() const { expect(context_.use(), "cuCtxSetCurrent"); }
  void expect(Result error, std::string_view call) const { library_->expect(error, facts().name, call); }

  Function kernel_named(std::string_view name) {
    const auto found = kernels_.find(name);
    if (found != kernels_.end()) return found->second;
    const std::string text(name);
    Function kernel = nullptr;
    expect(api_.ModuleGetFunction(&kernel, module_.get(), text.c_str()), "kernel " + text);
    return kernels_[text] = kernel;
  }

  void build() {
    std::string log(64 << 10, '\0');
    const auto load = [&](const std::string& code) {
      std::array<int, 2> keys{kJitErrorLogBuffer, kJitErrorLogBufferSizeBytes};
      // CUDA takes a number as if it were a pointer. NOLINTNEXTLINE(performance-no-int-to-ptr)
      std::array<void*, 2> values{log.data(), reinterpret_cast<void*>(log.size())};
      // The driver's compiler makes the code that runs: what a device has proven is proven for this text
      // alone.
      facts_.driver = fmt::format("{}, kernels {:016x}", options_.found.facts.driver, hash64(code));
      Module module = nullptr;
      const Result error =
          api_.ModuleLoadDataEx(&module, code.c_str(), keys.size(), keys.data(), values.data());
      if (error == kSuccess) module_ = {module, {&context_}};
      return error;
    };
    const Result error = load_kernels(kernel_source(options_.style),
                                      {.target = {.device = facts().name,
                                                  .capability = options_.found.capability,
                                                  .driver_version = library_->version(),
                                                  .cache = options_.cache,
                                                  .more_build_options = options_.more_build_options},
                                       .nvrtc_library = options_.nvrtc_library},
                                      load);
    if (error == kSuccess) return;
    log.resize(std::min(log.size(), log.find('\0')));
    throw_build_error(facts().name, library_->error_name(error), log, options_.cache.directory);
  }

  const std::shared_ptr<const Library> library_;
  const Api& api_;
  const CudaOptions options_;
  Facts facts_ = options_.found.facts;
  const HeldContext context_;
  OwnedModule module_;
  std::array<OwnedStream, kQueues> streams_;
  std::map<std::string, Function, std::less<>> kernels_;
  Counters counters_;

  std::unique_ptr<CudaMark> origin_;  // null: nothing is timed
  std::chrono::steady_clock::time_point host_clock_ = {};
  std::string span_name_;
  std::vector<Kept> kept_;
};

}  // namespace

std::unique_ptr<Driver> make_cuda_driver(std::shared_ptr<const Library> library, CudaOptions options) {
  return std::make_unique<CudaDriver>(std::move(library), std::move(options));
}

}  // namespace lockstep::gpu::cuda
