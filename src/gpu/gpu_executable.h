// Programs on a GPU: layer by layer over the packs of the device. The host only fills queues; it waits where
// a step asks for an answer, and where an exchange needs numbers of the device.
#pragma once
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "device/device.h"
#include "gpu/driver.h"
#include "gpu/gpu_memory.h"
#include "gpu/launcher.h"

namespace lockstep::gpu {

class GpuExecutable : public device::Executable {
 public:
  // Requires: driver outlives it.
  GpuExecutable(const program::Program& program, const device::LoadOptions& options, Driver& driver);
  ~GpuExecutable() override;

  int add(const program::Program& program) override;
  void begin(int program) override {
    current_ = static_cast<std::size_t>(program);
    warm_ = begun_;
    begun_ = true;
  }
  void upload(program::BufferId buffer, std::span<const float> values) override;
  void download(program::BufferId buffer, std::span<float> values) const override;
  std::span<const float> parameter(program::BufferId buffer) const override;
  void download_activation(program::BufferId buffer, int example, std::span<float> values) const override;
  std::span<std::int64_t> counts(program::BufferId buffer) override;
  void run(std::size_t segment, const device::StepInput& input, device::Watcher& watcher) override;
  bool works_in_background() const override { return true; }
  std::vector<device::WorkSpan> take_spans() override;

  // gpu_exchange.cpp
  std::span<std::byte> bytes(const device::Transfer& transfer) override;
  void publish(std::span<const device::Transfer> transfers) override;
  void deliver(std::span<const device::Transfer> transfers) override;
  bool joins_beside_work() const override { return true; }
  void join(std::span<const program::Join> joins, const device::StepInput& input) override;

  const GpuMemory& memory() const { return memory_; }

 private:
  // Where a buffer of parameters, gradients or a state lies.
  struct Stretch {
    const Memory* memory;
    std::size_t first, count;  // floats
  };
  // Consecutive floats of all three stretches.
  struct Floats {
    std::size_t first, count;
    bool decays = false;  // of floats to update: by a weight decay that is not 0
  };

  // A region on the device.
  struct Placed {
    const Memory* memory;
    std::size_t first;  // bytes
    std::size_t whole;  // bytes of all that may travel of this memory
  };
  // What the schedule of the pack tree depends on.
  struct Schedule {
    int packs;
    arithmetic::PackRange share;
    bool operator==(const Schedule&) const = default;
  };
  // Bytes of an image that were written to the device's memory, perhaps later than the host went on.
  struct Arrived {
    const Memory* memory;
    std::size_t first, size;
    std::shared_ptr<Event> taken;
  };

  Stretch stretch_of(program::BufferId buffer) const;
  std::size_t sum_of(program::BufferId gradient) const;
  Floats floats_of(program::BufferId gradient, program::Part part) const;

  void run_packs(const program::Segment& segment, const device::StepInput& input, device::Watcher& watcher);
  void run_elements(const program::Segment& segment, const device::StepInput& input,
                    device::Watcher& watcher);
  void begin(const program::Instruction& instruction, device::Watcher& watcher) const;
  void stage(const PackGroup& group, const device::StepInput& input);
  void write_schedule(const program::Segment& segment);
  void check(const program::Instruction& instruction);
  bool is_good(program::BufferId verdict) { return counts(verdict)[0] != 0; }
  void name_spans(std::string name) const;
  void wait_for_queues() const;

  // gpu_exchange.cpp
  void make_images(const program::Program& program);
  Placed placed(const program::Region& region) const;
  HostMemory& image_of(const Placed& at);
  void wait_for_work_on(program::BufferId buffer);
  void note_taken();
  void wait_until_taken(const Placed& at, std::size_t size);
  const Memory& join_plan(const program::Join& join);
  static std::vector<Floats> merged(std::vector<Floats> ranges);
  void update_floats(const std::vector<Floats>& ranges, const device::StepInput& input);

  const program::Program& program() const { return programs_[current_]; }

  const device::LoadOptions options_;
  Driver& driver_;
  std::deque<program::Program> programs_;
  std::size_t current_ = 0;
  const int share_packs_;  // the most of a step that come here
  const Queue exchange_;   // the queue that an exchange uses: its own where others take part
  const program::BufferId labels_id_;
  const MemorySizes sizes_;
  GpuMemory memory_;
  Launcher launcher_;

  // Filled by the host for the device.
  std::unique_ptr<HostMemory> pixels_, labels_, examples_, schedule_;
  // Filled by the device for the host.
  std::unique_ptr<HostMemory> predicted_, verdict_, loss_;
  std::unique_ptr<Event> staged_;      // those of examples may be filled again; null: they may
  std::unique_ptr<Event> tallied_;     // predicted_ is there; null: it is
  std::optional<Schedule> scheduled_;  // what the device has
  bool loss_known_ = false;
  bool begun_ = false, warm_ = false;  // a step has begun; one has run every kernel

  // Of the last step.
  std::vector<std::uint8_t> step_labels_;
  program::BufferId counted_ =
      -1;  // counts that are made of predictions which the device may not have made yet

  // What parameter() shows; not parameter_image_, from which others may still be copying what was sent.
  std::unique_ptr<HostMemory> shown_;

  std::map<program::BufferId, std::vector<std::int64_t>> counts_;

  // For an exchange through the host's memory: images of the device's.
  std::map<const Memory*, std::unique_ptr<HostMemory>> images_;
  std::vector<Arrived> arrived_;  // no two of them overlap
  std::map<program::BufferId, std::unique_ptr<Event>>
      complete_;  // by partial sum: its packs are in the stack; by statistics of packs: they are there
  std::map<std::vector<int>, std::unique_ptr<Memory>> join_plans_;
};

}  // namespace lockstep::gpu
