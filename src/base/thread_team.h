// A fixed set of threads that do one thing together and wait for each other: the threads of a device.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"

namespace lockstep {

class ThreadTeam {
 public:
  struct Options {
    int threads = 1;
    std::string name = "team";  // for messages
    // Look a while before going to sleep: segments of a step follow each other within microseconds. Wrong
    // where threads share cores.
    bool spin = true;
    std::function<void(int)> on_start =
        nullptr;  // called on each further thread, with its number; must not throw
    std::chrono::nanoseconds timeout = std::chrono::seconds(60);
    // Called with one line that names the threads which have not come back; again after every further
    // timeout. May end the process; it must not throw, because the work still refers to the caller's frame.
    std::function<void(const std::string&)> on_stuck = nullptr;
  };

  explicit ThreadTeam(Options options);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  int size() const { return options_.threads; }

  // Calls work(0) on this thread and work(1) .. work(size() - 1) on the others, all in the law's
  // floating-point environment, and returns when all are done. Rethrows the exception of the lowest thread
  // that threw.
  void run(const std::function<void(int)>& work);

 private:
  struct alignas(64) Member {
    std::atomic<std::uint64_t> done{0};  // the last round it finished
    std::exception_ptr error;
  };

  void dismiss();
  void serve(int member);
  void perform(int member, const std::function<void(int)>& work);
  void wait_for_all(std::uint64_t round);
  std::string missing(std::uint64_t round) const;

  const Options options_;
  std::vector<Member> members_;
  const std::function<void(int)>* work_ = nullptr;  // written before round_, read after it
  std::atomic<std::uint64_t> round_{0};
  std::atomic<int> left_{0};  // members that have not finished the round
  std::atomic<bool> leaving_{false};
  Mutex mutex_;
  Condition all_finished_;
  std::vector<std::thread> threads_;
};

}  // namespace lockstep
