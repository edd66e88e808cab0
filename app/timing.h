#pragma once
#include <chrono>
#include <vector>

#include "train/observer.h"

namespace lockstep::app {

inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

inline double seconds_per_epoch(const std::vector<train::EpochReport>& epochs) {
  double seconds = 0;
  for (const train::EpochReport& epoch : epochs) seconds += epoch.seconds;
  return seconds / static_cast<double>(epochs.size());
}

}  // namespace lockstep::app
