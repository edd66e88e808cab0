// A program on a GPU: layer by layer over the packs of the device. The host only fills queues; it waits where
// a step asks for an answer, and where an exchange needs numbers of the device.
#pragma once
#include <map>
#include <memory>
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

  void upload(program::BufferId buffer, std::span<const float> values) override;
  void download(program::BufferId buffer, std::span<float> values) const override;
  std::span<const float> parameter(program::BufferId buffer) const override;
  void download_activation(program::BufferId buffer, int example, std::span<float> values) const override;
  std::vector<std::int64_t> tally() const override;
  bool run(std::size_t segment, const device::StepInput& input, device::Watcher& watcher) override;
  bool works_in_background() const override { return true; }
  std::vector<device::WorkSpan> take_spans() override;

  // gpu_exchange.cpp
  void expect(const program::exchange::List& list) override;
  std::span<float> numbers(const program::exchange::Place& place) override;
  void publish(std::span<const program::exchange::Place> places) override;
  void deliver(std::span<const program::exchange::Place> places) override;
  bool joins_beside_work() const override { return true; }
  void join(std::span<const program::exchange::Join> joins, const device::StepInput& input) override;
  bool check(std::span<const program::exchange::Range> gradients) override;
  void update(std::span<const program::exchange::Update> updates, const device::StepInput& input) override;

 private:
  // Where a buffer of parameters, gradients or a state lies.
  struct Stretch {
    const Memory* memory;
    std::size_t first, count;  // floats
  };
  // Consecutive floats of all three stretches.
  struct Floats {
    std::size_t first, count;
  };

  // A place of an exchange on the device, in floats, and its image.
  struct Placed {
    const Memory* memory;
    std::size_t first;
    HostMemory* image;
  };

  MemorySizes plan_memory() const;
  Stretch stretch_of(program::BufferId buffer) const;
  Floats floats_of(program::BufferId gradient) const;
  int sum_of(program::BufferId partial) const;

  void run_packs(const program::Segment& segment, const device::StepInput& input, device::Watcher& watcher);
  bool run_elements(const program::Segment& segment, const device::StepInput& input,
                    device::Watcher& watcher);
  void begin(const program::Instruction& instruction, device::Watcher& watcher) const;
  void stage(const PackGroup& group, const device::StepInput& input);
  void write_schedule(int packs);
  void name_spans(std::string name) const;
  void wait_for_queues() const;

  // gpu_exchange.cpp
  void make_images();
  Placed placed(const program::exchange::Place& place);
  void wait_for_packs(const program::exchange::Place& place);
  const Memory& join_plan(const program::exchange::Join& join);
  Floats floats_of(const program::exchange::Range& range) const;
  static std::vector<Floats> merged(std::vector<Floats> ranges);
  bool check_floats(const std::vector<Floats>& ranges, Queue queue);
  void update_floats(const std::vector<Floats>& ranges, const device::StepInput& input, Queue queue);

  const program::Program program_;
  const device::LoadOptions options_;
  Driver& driver_;
  const int most_packs_;   // of a minibatch
  const int share_packs_;  // of it that come here
  const Queue exchange_;   // the queue that an exchange uses: its own where others take part
  const program::BufferId labels_id_;
  const MemorySizes sizes_;
  GpuMemory memory_;
  Launcher launcher_;

  // Filled by the host for the device.
  std::unique_ptr<HostMemory> pixels_, labels_, schedule_;
  // Filled by the device for the host.
  std::unique_ptr<HostMemory> predicted_, verdict_, loss_;
  std::unique_ptr<Event> staged_;   // pixels_ and labels_ may be filled again; null: they may
  std::unique_ptr<Event> tallied_;  // predicted_ is there; null: it is
  int scheduled_packs_ = 0;
  bool loss_known_ = false;
  bool warm_ = false;  // every kernel of the program has run

  // Of the last step.
  std::size_t step_examples_ = 0;
  int first_pack_ = 0;
  std::vector<std::uint8_t> step_labels_;

  // What parameter() shows; not parameter_image_, from which others may still be copying what was sent.
  std::unique_ptr<HostMemory> shown_;

  // For an exchange: images of the device's memory in the host's.
  std::unique_ptr<HostMemory> gradient_image_, parameter_image_, inbox_image_;
  std::vector<std::unique_ptr<HostMemory>> held_images_;  // by sum
  std::vector<std::unique_ptr<Event>> complete_;          // by sum: its packs are in the stack
  std::map<std::vector<int>, std::unique_ptr<Memory>> join_plans_;
};

}  // namespace lockstep::gpu
