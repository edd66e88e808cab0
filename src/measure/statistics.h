// What a handful of noisy measurements says.
#pragma once
#include <vector>

namespace lockstep::measure {

// The value below which the share `at` (0 to 1) of the samples lies, between neighbours by straight line.
// Requires: at least one sample.
double quantile(std::vector<double> samples, double at);

// A median alone hides how much the machine wavered, so the quartiles travel with it.
struct Spread {
  double least = 0, lower_quartile = 0, median = 0, upper_quartile = 0;
  bool operator==(const Spread&) const = default;
};

// Requires: at least one sample.
Spread spread_of(const std::vector<double>& samples);

// Of what was measured in the same turn. Requires: as many samples of both, at least one.
Spread ratio_of(const std::vector<double>& above, const std::vector<double>& below);

}  // namespace lockstep::measure
