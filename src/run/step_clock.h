// Where the time of a device's step goes: computing, exchanging beside it, waiting for others.
#pragma once
#include <chrono>
#include <string>

#include "run/trace.h"

namespace lockstep::run {

struct DeviceTimes {
  double compute = 0, exchange = 0, wait = 0;  // seconds
};

// Used by the device's worker, and by whichever of its threads has the exchange at the moment.
class StepClock {
 public:
  using Clock = std::chrono::steady_clock;

  // With a trace, every span is kept in it; times count from `start`.
  void keep(DeviceTrace* trace, Clock::time_point start) {
    trace_ = trace;
    start_ = start;
  }
  // A device that works in the background tells by itself what it did in an exchange; the host only filled
  // its queue.
  void leave_exchange_to_device() { notes_exchange_ = false; }
  void begin(std::int64_t step) {
    step_ = step;
    times_ = {};
  }
  const DeviceTimes& times() const { return times_; }

  // What was neither exchange nor wait was computing.
  void end(Clock::time_point from) {
    times_.compute =
        std::chrono::duration<double>(Clock::now() - from).count() - times_.exchange - times_.wait;
  }

  void add(TraceSpan::Lane lane, Clock::time_point from, const std::string& name) {
    const Clock::time_point to = Clock::now();
    const double seconds = std::chrono::duration<double>(to - from).count();
    if (lane == TraceSpan::Lane::exchange) times_.exchange += seconds;
    if (lane == TraceSpan::Lane::wait) times_.wait += seconds;
    if (notes_exchange_ || lane != TraceSpan::Lane::exchange) note(lane, from, to, name);
  }

  // Since `from` the device was computing, in the middle of what will be added as an exchange.
  void was_computing(Clock::time_point from) {
    times_.exchange -= std::chrono::duration<double>(Clock::now() - from).count();
  }

  // Only for the trace.
  void note(TraceSpan::Lane lane, Clock::time_point from, Clock::time_point to, const std::string& name) {
    if (trace_ == nullptr) return;
    const auto since_start = [&](Clock::time_point t) {
      return std::chrono::duration<double>(t - start_).count();
    };
    trace_->spans.push_back({lane, name, step_, since_start(from), since_start(to)});
  }

 private:
  DeviceTrace* trace_ = nullptr;
  bool notes_exchange_ = true;
  Clock::time_point start_ = {};
  std::int64_t step_ = 0;
  DeviceTimes times_;
};

}  // namespace lockstep::run
