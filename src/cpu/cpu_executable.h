// Programs on a CPU device: their steps, their memory, and the loop nest that runs them.
#pragma once
#include <deque>
#include <mutex>

#include "base/thread_team.h"
#include "cpu/division.h"
#include "cpu/step.h"
#include "cpu/workspace.h"

namespace lockstep::cpu {

// What the devices of a machine have in common.
struct Sharing {
  bool cores = false;  // there are more threads than cores
  int workspaces = 1;  // of the pool that count for this device: each counts for one device
};

class CpuExecutable : public device::Executable {
 public:
  // Plans the program's memory and allocates nothing: allocate() does. Requires: team, kernels and workspaces
  // outlive it.
  CpuExecutable(const program::Program& program, const device::LoadOptions& options, const Kernels& kernels,
                ThreadTeam& team, WorkspacePool& workspaces, const Sharing& sharing);

  // What the first program takes.
  const program::MemoryPlan& memory_plan() const { return memory_plan_; }
  // Once, before the executable is used.
  void allocate();
  // Bytes of its memory, and of a workspace for each thread that works on packs.
  std::size_t allocated() const;

  int add(const program::Program& program) override;
  void begin(int program) override { current_ = &programs_.at(static_cast<std::size_t>(program)); }
  void upload(program::BufferId buffer, std::span<const float> values) override;
  void download(program::BufferId buffer, std::span<float> values) const override;
  std::span<const float> parameter(program::BufferId buffer) const override;
  void download_activation(program::BufferId buffer, int example, std::span<float> values) const override;
  std::span<std::int64_t> counts(program::BufferId buffer) override;
  void run(std::size_t segment, const device::StepInput& input, device::Watcher& watcher) override;
  bool works_in_background() const override { return false; }
  std::vector<device::WorkSpan> take_spans() override { return {}; }

  // cpu_exchange.cpp
  std::span<std::byte> bytes(const device::Transfer& transfer) override;
  // Its threads compute in the memory that other ranks see; the threads' sums of a partial sum were added
  // when it became complete.
  void publish(std::span<const device::Transfer>) override {}
  void deliver(std::span<const device::Transfer>) override {}
  bool joins_beside_work() const override { return team_.size() == 1; }
  void join(std::span<const program::Join> joins, const device::StepInput& input) override;

 private:
  struct ReadySegment {
    const program::Segment* segment;
    std::vector<std::unique_ptr<Step>> steps;
    std::size_t first_grouped = 0, last_grouped = 0;  // these run for a group of packs, the others for each
    std::deque<std::atomic<int>> threads_left = {};   // by step: threads that still have packs to add
    Division division = {};                           // of the segment's packs
  };
  struct ReadyProgram {
    explicit ReadyProgram(program::Program p) : program(std::move(p)) {}
    const program::Program program;
    std::deque<ReadySegment> segments;
    std::vector<const Division*> divisions;  // by buffer: of the segment that makes a partial sum
  };

  const program::Program& first_program() const { return programs_.front().program; }
  program::MemoryPlan plan_memory(int stack) const;
  ArenaLinks links() const;
  int make_steps(ReadyProgram& ready);

  void prepare(const ReadySegment& segment, const Work& work, device::Watcher& watcher);
  void begin_packs(ReadySegment& segment, device::Watcher& watcher);
  void run_packs(ReadySegment& segment, Work work, WorkspacePool::Lease* lease, device::Watcher& watcher);
  void run_elements(ReadySegment& segment, const device::StepInput& input, device::Watcher& watcher);
  void run_share(ReadySegment& segment, const device::StepInput& input, int thread, device::Watcher& watcher);
  void finish_step(ReadySegment& segment, std::size_t step, device::Watcher& watcher);
  const Division& division_of(program::BufferId partial) const;
  void add_threads_sums(program::BufferId partial, std::size_t first, std::size_t count) const;
  void add_threads_counts(program::BufferId counts) const;
  float* subtree(program::BufferId partial, std::size_t index) const;
  void join_floats(const program::Join& join, std::span<float* const> values, std::size_t first,
                   std::size_t count, float examples);
  void meet(program::Join::Operator op, float* into, const float* from, std::size_t count) const;
  void on_all_threads(const std::function<void(int thread, int threads)>& work);
  std::span<float> floats_of(program::BufferId buffer, std::size_t count) const;

  const device::LoadOptions options_;
  const Kernels& kernels_;
  ThreadTeam& team_;
  WorkspacePool& workspaces_;
  const int active_;  // threads that ever get a pack
  const int group_;
  // Devices that take turns on a core prepare their parameters when it is their turn, where the core's cache
  // is warm, instead of each keeping a prepared copy. Only for packs that go through in one group.
  const bool prepares_late_;
  const int own_workspaces_;  // that count for this device
  std::deque<ReadyProgram> programs_;
  ReadyProgram* current_;
  ConvolutionPlans plans_;
  Arena arena_;
  std::size_t scratch_floats_ = 0;
  program::MemoryPlan memory_plan_;
  std::vector<AlignedBuffer<std::byte>> kept_workspaces_;  // by thread, in layer order
};

}  // namespace lockstep::cpu
