// Several things measured in turns.
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "measure/fma_peak.h"
#include "measure/pace.h"
#include "measure/statistics.h"

namespace lockstep::measure {

struct Timing {
  Spread seconds;  // of one call
  double peak_flops =
      0;  // what the peak loop would have done in that time, as fast as it was just before and after
  Spread against_first = {};  // how many times as fast as the first of the runs, turn by turn
};

// Times each of `runs`, one sample a turn. A turn calls its function once to warm the cache
// up, which is not counted, then over and over for a window. Samples the peak before and after every turn.
std::vector<Timing> take_turns(const Pace& pace, FmaPeak& peak, std::span<const std::function<void()>> runs);

// The same without the peak: seconds of one call, by run and by turn.
std::vector<std::vector<double>> sample_in_turns(const Pace& pace,
                                                 std::span<const std::function<void()>> runs);

}  // namespace lockstep::measure
