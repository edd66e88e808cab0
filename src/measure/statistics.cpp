#include "measure/statistics.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace lockstep::measure {

double quantile(std::vector<double> samples, double at) {
  check(!samples.empty(), "a quantile of no samples");
  check(at >= 0 && at <= 1, "there is no quantile {}", at);
  std::ranges::sort(samples);
  const double place = at * static_cast<double>(samples.size() - 1);
  const double below = std::floor(place);
  const auto i = static_cast<std::size_t>(below);
  if (i + 1 == samples.size()) return samples.back();
  return samples[i] + (place - below) * (samples[i + 1] - samples[i]);
}

Spread spread_of(const std::vector<double>& samples) {
  return {quantile(samples, 0), quantile(samples, 0.25), quantile(samples, 0.5), quantile(samples, 0.75)};
}

Spread ratio_of(const std::vector<double>& above, const std::vector<double>& below) {
  check(above.size() == below.size(), "a ratio of {} samples to {}", above.size(), below.size());
  std::vector<double> ratios;
  for (std::size_t i = 0; i < above.size(); ++i) ratios.push_back(above[i] / below[i]);
  return spread_of(ratios);
}

}  // namespace lockstep::measure
