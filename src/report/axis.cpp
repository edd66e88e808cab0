#include "report/axis.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <fmt/core.h>

namespace lockstep::report {
namespace {

// Round numbers between the first and the last epoch, none so near to a neighbour that labels crowd.
std::vector<int> ticks_by(int epochs, std::int64_t step) {
  const auto crowded = [step](std::int64_t a, std::int64_t b) { return 5 * (b - a) < 3 * step; };
  std::vector<int> ticks{1};
  for (std::int64_t epoch = step; epoch < epochs; epoch += step) {
    if (!crowded(1, epoch) && !crowded(epoch, epochs)) ticks.push_back(static_cast<int>(epoch));
  }
  if (epochs > 1) ticks.push_back(epochs);
  return ticks;
}

}  // namespace

std::vector<int> epoch_ticks(int epochs, int most) {
  const auto fits = [epochs, most](std::int64_t step) {
    const bool near = epochs / step <= most + 2;  // so that a long run makes no long list
    return near && std::ssize(ticks_by(epochs, step)) <= std::max(most, 2);
  };
  if (fits(1)) return ticks_by(epochs, 1);
  for (std::int64_t power = 1;; power *= 10) {
    for (const int factor : {5, 10, 20}) {
      if (fits(factor * power) || factor * power >= epochs) return ticks_by(epochs, factor * power);
    }
  }
}

double value_axis_top(double highest, double least) {
  constexpr double kLargest = 1e30;
  const double bound = std::max(std::min(highest, kLargest), least);
  for (int digits = static_cast<int>(std::floor(std::log10(bound)));; ++digits) {
    const double power = std::pow(10, digits);
    for (const double factor : {0.5, 1.0, 2.5}) {
      if (factor * power >= bound) return factor * power;
    }
  }
}

double loss_axis_top(std::span<const train::EpochReport> epochs) {
  double highest = 0;
  for (const train::EpochReport& epoch : epochs) {
    if (std::isfinite(epoch.train_loss)) highest = std::max(highest, epoch.train_loss);
  }
  return value_axis_top(highest, 0.5);
}

std::string value_label(double top, int step) {
  const double value = top * step / kValueSteps;
  return top >= 0.5 && top < 10 ? fmt::format("{:.1f}", value) : fmt::format("{:g}", value);
}

}  // namespace lockstep::report
