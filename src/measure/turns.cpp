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

}  // namespace

std::vector<Spread> take_turns(const Pace& pace, FmaPeak& peak, std::span<const std::function<void()>> runs) {
  std::vector<std::vector<double>> samples(runs.size());
  const Stopwatch watch;
  for (int round = 0; round < pace.fewest_rounds || watch.seconds() < pace.seconds; ++round) {
    for (std::size_t i = 0; i < runs.size(); ++i) {
      peak.sample();
      samples[i].push_back(seconds_of(runs[i], pace.window));
    }
  }
  std::vector<Spread> spreads;
  spreads.reserve(runs.size());
  for (const std::vector<double>& s : samples) spreads.push_back(spread_of(s));
  return spreads;
}

}  // namespace lockstep::measure
