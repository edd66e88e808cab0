#include "report/ratio_axis.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace lockstep::report {
namespace {

constexpr int kEndInset = 20;
constexpr double kDigitWidth = 8.3;  // of the widest font that svg_begin names, DejaVu Sans at 13 pixels
constexpr double kLabelGap = 8;      // between labels

std::vector<double> ascending(std::vector<double> values) {
  std::ranges::sort(values);
  values.erase(std::ranges::unique(values).begin(), values.end());
  return values;
}

}  // namespace

RatioAxis::RatioAxis(const SvgPlot& plot, std::vector<double> values)
    : plot_(plot),
      values_(ascending(std::move(values))),
      by_ratio_(!values_.empty() && values_.front() > 0) {}

double RatioAxis::position(double value) const { return by_ratio_ ? std::log(value) : value; }

double RatioAxis::x_of(double value) const {
  const double first = plot_.left + kEndInset, last = plot_.right - kEndInset;
  if (values_.size() < 2) return (first + last) / 2;
  const double from = position(values_.front()), to = position(values_.back());
  return first + (last - first) * (position(value) - from) / (to - from);
}

std::vector<bool> RatioAxis::labeled(std::span<const std::string> labels) const {
  const auto half = [&](std::size_t i) { return kDigitWidth * static_cast<double>(labels[i].size()) / 2; };
  const auto left = [&](std::size_t i) { return x_of(values_[i]) - half(i); };
  const auto right = [&](std::size_t i) { return x_of(values_[i]) + half(i); };
  const std::size_t last = labels.size() - 1;
  std::vector<bool> chosen(labels.size());
  double taken = -1e9;
  for (std::size_t i = 0; i < last; ++i) {
    chosen[i] = left(i) >= taken + kLabelGap && right(i) + kLabelGap <= left(last);
    if (chosen[i]) taken = right(i);
  }
  chosen[last] = true;
  return chosen;
}

std::string RatioAxis::draw(const std::string& name) const {
  if (values_.empty()) return svg_bottom_name(plot_, name);
  std::vector<std::string> labels;
  labels.reserve(values_.size());
  for (const double value : values_) labels.push_back(fmt::format("{:g}", value));
  const std::vector<bool> chosen = labeled(labels);
  std::string text;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const double x = x_of(values_[i]);
    text += chosen[i] ? svg_labeled_tick(plot_, x, labels[i]) : svg_tick(plot_, x) + '\n';
  }
  const bool says_scale = by_ratio_ && values_.size() > 2;  // with two points no scale is seen
  return text + svg_bottom_name(plot_, says_scale ? name + " (log scale)" : name);
}

}  // namespace lockstep::report
