// A program on a CPU device: its steps, its memory, and the loop nest that runs them.
#pragma once
#include <deque>
#include <mutex>

#include "base/thread_team.h"
#include "cpu/division.h"
#include "cpu/step.h"
#include "cpu/workspace.h"

namespace lockstep::cpu {

class CpuExecutable : public device::Executable {
 public:
  // Requires: team, kernels and workspaces outlive it.
  CpuExecutable(const program::Program& program, const device::LoadOptions& options, const Kernels& kernels,
                ThreadTeam& team, WorkspacePool& workspaces, bool shares_cores);

  void upload(program::BufferId buffer, std::span<const float> values) override;
  void download(program::BufferId buffer, std::span<float> values) const override;
  std::span<const float> parameter(program::BufferId buffer) const override;
  void download_activation(program::BufferId buffer, int example, std::span<float> values) const override;
  std::vector<std::int64_t> tally() const override;
  bool run(std::size_t segment, const device::StepInput& input, device::Watcher& watcher) override;
  bool works_in_background() const override { return false; }
  std::vector<device::WorkSpan> take_spans() override { return {}; }

  // cpu_exchange.cpp
  void expect(const program::exchange::List& list) override;
  std::span<float> numbers(const program::exchange::Place& place) override;
  // Its threads compute in the memory that others see; what is held was gathered when it became complete.
  void publish(std::span<const program::exchange::Place>) override {}
  void deliver(std::span<const program::exchange::Place>) override {}
  bool joins_beside_work() const override { return team_.size() == 1; }
  void join(std::span<const program::exchange::Join> joins, const device::StepInput& input) override;
  bool check(std::span<const program::exchange::Range> gradients) override;
  void update(std::span<const program::exchange::Update> updates, const device::StepInput& input) override;

 private:
  struct ReadySegment {
    const program::Segment* segment;
    std::vector<std::unique_ptr<Step>> steps;
    std::size_t first_grouped = 0, last_grouped = 0;  // these run for a group of packs, the others for each
    std::deque<std::atomic<int>> threads_left = {};   // by step: threads that still have packs to add
  };

  int plan_stack() const;
  std::vector<int> plan_slots() const;
  ArenaSizes plan_memory() const;
  void make_steps();

  void prepare(const Work& work, device::Watcher& watcher);
  void begin_packs(ReadySegment& segment, device::Watcher& watcher);
  void run_packs(ReadySegment& segment, Work work, WorkspacePool::Lease* lease, device::Watcher& watcher);
  void finish_step(ReadySegment& segment, std::size_t step, device::Watcher& watcher);
  void gather(program::BufferId partial, std::size_t first, std::size_t count) const;
  float* subtree(program::BufferId partial, std::size_t index) const;
  void on_all_threads(const std::function<void(int thread, int threads)>& work);
  std::span<float> floats_of(program::BufferId buffer, std::size_t count) const;

  const program::Program program_;
  const device::LoadOptions options_;
  const Kernels& kernels_;
  ThreadTeam& team_;
  WorkspacePool& workspaces_;
  const int most_packs_;   // of a minibatch
  const int share_packs_;  // of it that come here
  const int active_;       // threads that ever get a pack
  const int group_;
  // Devices that take turns on a core prepare their parameters when it is their turn, where the core's cache
  // is warm, instead of each keeping a prepared copy. Only for packs that go through in one group.
  const bool prepares_late_;
  ConvolutionPlans plans_;
  Arena arena_;
  std::size_t scratch_floats_ = 0;
  std::deque<ReadySegment> segments_;
  std::vector<AlignedBuffer<std::byte>> kept_workspaces_;  // by thread, in layer order
  Division division_;
  AlignedBuffer<float> inbox_;
};

}  // namespace lockstep::cpu
