// How long to measure. What is compared takes turns, window by window, so that a busy minute of the machine
// falls on all of it alike.
#pragma once

namespace lockstep::measure {

struct Pace {
  double seconds = 3;     // of one bench, all turns together
  double window = 0.05;   // seconds of one turn; long enough that waking threads does not count
  int fewest_rounds = 5;  // even if the time is over: fewer make no quartiles
};

}  // namespace lockstep::measure
