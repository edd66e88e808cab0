#include "base/deadline.h"

#include <utility>

namespace lockstep {

using Clock = std::chrono::steady_clock;

Deadline::Deadline(std::chrono::nanoseconds timeout, std::function<void()> late)
    : late_(std::move(late)), watch_([this, end = Clock::now() + timeout] { watch(end); }) {}

Deadline::~Deadline() {
  {
    const Lock lock(mutex_);
    is_met_ = true;
    met_.notify_all();
  }
  watch_.join();
}

void Deadline::watch(Clock::time_point end) {
  Lock lock(mutex_);
  while (!is_met_) {
    const auto left = end - Clock::now();
    if (left <= left.zero()) return late_();
    met_.wait_for(lock, left);
  }
}

}  // namespace lockstep
