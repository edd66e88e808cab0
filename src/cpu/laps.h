// Where the time of a fast convolution goes, for benches.
#pragma once
#include <chrono>

namespace lockstep::cpu {

// In seconds, added up over runs.
struct Laps {
  double into = 0, products = 0, back = 0;
};

// Adds the time since the last lap to a phase. Does nothing if there are no laps.
class LapClock {
 public:
  explicit LapClock(Laps* laps) : laps_(laps) {
    if (laps_ != nullptr) last_ = Clock::now();
  }
  void lap(double Laps::*phase) {
    if (laps_ == nullptr) return;
    const Clock::time_point now = Clock::now();
    laps_->*phase += std::chrono::duration<double>(now - last_).count();
    last_ = now;
  }

 private:
  using Clock = std::chrono::steady_clock;

  Laps* const laps_;
  Clock::time_point last_;
};

}  // namespace lockstep::cpu
