// A horizontal axis on which equal ratios are equal distances, for values that people double or multiply by
// ten: learning rates, numbers of devices.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "report/svg.h"

namespace lockstep::report {

class RatioAxis {
 public:
  // Spans `values` with an inset on both sides; a single one stands in the middle. If one is not positive,
  // equal differences are equal distances instead.
  RatioAxis(const SvgPlot& plot, std::vector<double> values);

  double x_of(double value) const;

  // Ticks for all values and the name; labels for the first, the last and those between that have room.
  std::string draw(const std::string& name) const;

 private:
  double position(double value) const;
  std::vector<bool> labeled(std::span<const std::string> labels) const;

  const SvgPlot plot_;
  const std::vector<double> values_;  // ascending, each once
  const bool by_ratio_;
};

}  // namespace lockstep::report
