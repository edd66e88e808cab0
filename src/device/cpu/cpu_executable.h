// A program on a CPU device: its steps, its memory, and the loop nest that runs them.
#pragma once
#include "base/thread_team.h"
#include "device/cpu/step.h"

namespace lockstep::device::cpu {

class CpuExecutable : public Executable {
 public:
  // Requires: team and kernels outlive it.
  CpuExecutable(const program::Program& program, const LoadOptions& options, const Kernels& kernels,
                ThreadTeam& team);

  void upload(program::BufferId buffer, std::span<const float> values) override;
  void download(program::BufferId buffer, std::span<float> values) const override;
  void download_activation(program::BufferId buffer, int example, std::span<float> values) const override;
  std::vector<std::int64_t> tally() const override;
  bool run(std::size_t segment, const StepInput& input) override;

 private:
  struct ReadySegment {
    program::Segment::Over over;
    std::vector<std::unique_ptr<Step>> steps;
    std::size_t first_grouped = 0, last_grouped = 0;  // these run for a group of packs, the others for each
  };
  // How the packs of a minibatch are divided among the threads, and how their sums meet. Depends on the
  // numbers of packs and threads alone.
  struct Division {
    int packs = 0;
    std::vector<arithmetic::PackRange> ranges;                 // by thread
    std::vector<std::vector<arithmetic::JoinStep>> schedules;  // by thread
    std::vector<std::pair<int, int>> subtrees;
    std::vector<arithmetic::JoinPair> finish;
  };

  static Division divide(int packs, int threads);
  static int deepest_stack(int most_packs, int threads);
  std::vector<int> plan_slots() const;
  ArenaSizes plan_memory() const;
  void run_packs(const ReadySegment& segment, Work work) const;
  std::span<float> floats_of(program::BufferId buffer, std::size_t count) const;

  const program::Program program_;
  const LoadOptions options_;
  const Kernels& kernels_;
  ThreadTeam& team_;
  const int most_packs_;
  const int active_;  // threads that ever get a pack
  const int group_;
  GatherPlans plans_;
  Arena arena_;
  std::vector<ReadySegment> segments_;
  std::vector<AlignedBuffer<float>> scratch_;  // by thread
  Division division_;
};

}  // namespace lockstep::device::cpu
