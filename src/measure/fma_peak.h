// What one core can do at most: multiply-adds on registers alone, in fp32, with the vectors of one row of
// kernels. The peak is the best window of the whole run. On a shared machine it jumps, and a peak taken in a
// slow moment would flatter every share, so windows are taken between all other measurements.
#pragma once
#include <cstdint>
#include <vector>

#include "cpu/kernels.h"

namespace lockstep::measure {

// What the windows of a run say together, in operations a second.
struct PeakFigure {
  double best = 0, median = 0, lower_quartile = 0;

  // Windows further apart than this mean that other programs used the machine, or that it changed its
  // frequency. A share of such a peak says nothing.
  static constexpr double kMostApart = 0.15;

  // How far the slowest quarter of the windows stays below the best one: 0.2 is 20 %.
  double apart() const { return best > 0 ? 1 - lower_quartile / best : 0; }
  bool busy() const { return apart() > kMostApart; }
};

class FmaPeak {
 public:
  // Requires: kernels outlive it.
  explicit FmaPeak(const cpu::Kernels& kernels);

  // Measures a window of about a millisecond and gives its operations a second.
  double sample();

  // Counts a window that was measured.
  double add_window(double multiply_adds, double seconds);

  // Two operations a multiply-add; 0 before the first window.
  double flops_per_second() const;

  // Half of the windows were faster. Far below the peak: others use the machine.
  // Requires: at least one window.
  double median_flops_per_second() const;

  // Requires: at least one window.
  PeakFigure figure() const;

 private:
  const cpu::Kernels& kernels_;
  std::int64_t rounds_ = 0;      // of a window
  std::vector<double> windows_;  // operations a second
};

}  // namespace lockstep::measure
