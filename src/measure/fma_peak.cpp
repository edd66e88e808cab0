#include "measure/fma_peak.h"

#include <algorithm>

#include "measure/statistics.h"
#include "measure/stopwatch.h"

namespace lockstep::measure {
namespace {

constexpr double kWindow = 1e-3;  // seconds: shorter than a time slice, so some windows are undisturbed

std::int64_t rounds_of_window(const cpu::Kernels& kernels) {
  std::int64_t rounds = 1024;
  for (;; rounds *= 2) {
    const Stopwatch watch;
    kernels.fma_peak(rounds);
    if (watch.seconds() >= kWindow) return rounds;
  }
}

}  // namespace

FmaPeak::FmaPeak(const cpu::Kernels& kernels) : kernels_(kernels), rounds_(rounds_of_window(kernels)) {}

double FmaPeak::sample() {
  const Stopwatch watch;
  const double multiply_adds = kernels_.fma_peak(rounds_);
  return add_window(multiply_adds, watch.seconds());
}

double FmaPeak::add_window(double multiply_adds, double seconds) {
  windows_.push_back(2 * multiply_adds / seconds);
  return windows_.back();
}

double FmaPeak::flops_per_second() const {
  return windows_.empty() ? 0 : *std::ranges::max_element(windows_);
}

double FmaPeak::median_flops_per_second() const { return quantile(windows_, 0.5); }

PeakFigure FmaPeak::figure() const {
  return {flops_per_second(), median_flops_per_second(), quantile(windows_, 0.25)};
}

}  // namespace lockstep::measure
