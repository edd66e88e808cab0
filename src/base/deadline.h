// A call if something takes longer than it should.
#pragma once
#include <chrono>
#include <functional>
#include <thread>

#include "base/mutex.h"

namespace lockstep {

// Calls `late`, on a thread of its own, if this object still lives after `timeout`. `late` must not throw.
class Deadline {
 public:
  Deadline(std::chrono::nanoseconds timeout, std::function<void()> late);
  ~Deadline();
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

 private:
  void watch(std::chrono::steady_clock::time_point end);

  const std::function<void()> late_;
  Mutex mutex_;
  Condition met_;
  bool is_met_ GUARDED_BY(mutex_) = false;
  std::thread watch_;
};

}  // namespace lockstep
