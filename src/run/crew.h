// The devices of this process and the threads that drive them: one worker a device, its transport to the
// other ranks of the run, and a watch that says who is stuck.
#pragma once
#include <atomic>
#include <chrono>
#include <deque>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/thread_team.h"
#include "device/device.h"
#include "transport/transport.h"

namespace lockstep::run {

// What a worker is doing, for the watch. The worker writes, the watch reads. What the pointers point to
// lives at least as long as the work that set them: when the work is over, the crew clears them.
struct Activity {
  std::atomic<std::uint64_t> moves{0};  // grows with everything that is begun
  std::atomic<std::int64_t> step{0};    // of the training, from 1; 0: none
  std::atomic<const program::Instruction*> instruction{nullptr};
  std::atomic<const program::ExchangeInstruction*> exchanging{nullptr};  // not null: instead of the above
  std::atomic<const program::Program*> program{nullptr};                 // whose buffers the exchange means
  std::atomic<bool> working{false}, waiting{false};
};

// All sums are exchanged together where devices share cores: nothing can overlap, and every wake-up is a
// detour.
inline constexpr std::size_t kOneBucket = std::numeric_limits<std::size_t>::max();

class Crew {
 public:
  struct Options {
    std::chrono::nanoseconds timeout = std::chrono::seconds(60);
    // Told, in one line, who has made no progress for so long, again after every further timeout. Workers
    // that wait for others are sent home with an error. A worker that is stuck in its own work cannot be: its
    // thread has to be joined, so run() throws Error(device) when that work comes back, and not before.
    // A caller that cannot wait that long ends the process here. Must not throw. Null: no one is told.
    std::function<void(const std::string&)> on_stuck = nullptr;
    bool share_cores = false;  // more threads than cores: no thread spins

    // The devices are the ranks from `first_rank` on; the run has `ranks` of them. 0: the crew has all.
    int first_rank = 0, ranks = 0;
    // Connects one of the crew's ranks with all others. Null: the ranks are all in this crew.
    std::function<std::unique_ptr<transport::Transport>(int rank, transport::RankOptions options)> connect =
        nullptr;
  };

  Crew(std::vector<std::unique_ptr<device::Device>> devices, Options options);
  // Of devices that outlive it.
  explicit Crew(std::vector<device::Device*> devices);
  Crew(std::vector<device::Device*> devices, Options options);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  int first_rank() const { return options_.first_rank; }
  int ranks() const { return options_.ranks > 0 ? options_.ranks : size(); }  // of the run
  std::string name_of_rank(int rank) const;
  // By rank: do the device and that one copy straight from each other's memory?
  std::vector<bool> direct(int device) const;
  // More threads than cores.
  bool shares_cores() const { return options_.share_cores; }
  int size() const { return static_cast<int>(devices_.size()); }
  const Options& options() const { return options_; }
  device::Device& device(int index) { return *devices_[static_cast<std::size_t>(index)]; }
  std::vector<std::string> names() const;
  // Are they all of one kind and model, and so equally fast?
  bool alike() const;
  transport::Transport& transport(int index) { return *transports_[static_cast<std::size_t>(index)]; }
  Activity& activity(int index) { return activities_[static_cast<std::size_t>(index)]; }

  // Calls work(device) on each device's worker and returns when all are done. The first one that throws makes
  // the waits of the others fail; its exception reaches the caller with device, step and instruction. After
  // that the crew is of no more use.
  void run(const std::function<void(int)>& work);

 private:
  void work_on(int device, const std::function<void(int)>& work);
  void finish_work(Activity& activity, const std::exception_ptr& error);
  void watch();
  std::string stuck_workers(std::vector<int>& still) const;
  std::string doing(int device) const;
  std::string placed(int device, std::string_view text) const;

  const Options options_;
  std::vector<std::unique_ptr<device::Device>> owned_;
  const std::vector<device::Device*> devices_;
  std::vector<std::unique_ptr<transport::Transport>> transports_;
  std::deque<Activity> activities_;
  std::vector<std::unique_ptr<device::ThreadPlace>> places_;  // of the workers' threads, but the first
  Mutex mutex_;
  std::exception_ptr first_error_ GUARDED_BY(mutex_);
  std::string stuck_ GUARDED_BY(mutex_);  // what the watch said
  bool leaving_ GUARDED_BY(mutex_) = false;
  Condition leave_;
  std::unique_ptr<ThreadTeam> workers_;
  std::thread watch_;
};

}  // namespace lockstep::run
