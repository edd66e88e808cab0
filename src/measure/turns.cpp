#include "measure/turns.h"

#include "measure/stopwatch.h"

namespace lockstep::measure {
namespace {

double seconds_of(const std::function<void()>& run, double window) {
  run();
  const Stopwatch watch;
  double seconds = 0;
  int calls = 0;
  do {
    run();
    ++calls;
    seconds = watch.seconds();
  } while (seconds < window);
  return seconds / calls;
}

// turn(i) for each of `runs`, round after round.
template <class Turn>
void in_turns(const Pace& pace, std::size_t runs, const Turn& turn) {
  const Stopwatch watch;
  for (int round = 0; round < pace.fewest_rounds || watch.seconds() < pace.seconds; ++round) {
    for (std::size_t i = 0; i < runs; ++i) turn(i);
  }
}

}  // namespace

std::vector<Timing> take_turns(const Pace& pace, FmaPeak& peak, std::span<const std::function<void()>> runs) {
  std::vector<std::vector<double>> samples(runs.size()), peak_flops(runs.size());
  in_turns(pace, runs.size(), [&](std::size_t i) {
    const double before = peak.sample();
    samples[i].push_back(seconds_of(runs[i], pace.window));
    peak_flops[i].push_back(samples[i].back() * (before + peak.sample()) / 2);
  });
  std::vector<Timing> timings;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    timings.push_back(
        {spread_of(samples[i]), quantile(peak_flops[i], 0.5), ratio_of(samples[0], samples[i])});
  }
  return timings;
}

std::vector<std::vector<double>> sample_in_turns(const Pace& pace,
                                                 std::span<const std::function<void()>> runs) {
  std::vector<std::vector<double>> samples(runs.size());
  in_turns(pace, runs.size(), [&](std::size_t i) { samples[i].push_back(seconds_of(runs[i], pace.window)); });
  return samples;
}

}  // namespace lockstep::measure
