#include "bench_crew.h"

#include <fmt/format.h>

#include "devices.h"

namespace lockstep::app {

std::unique_ptr<run::Crew> make_bench_crew(int devices, int threads) {
  CrewOptions options;
  options.devices.clear();
  for (int device = 0; device < devices; ++device) options.devices.push_back(fmt::format("cpu:{}", device));
  options.threads = threads;
  return Devices().make_crew(options);
}

}  // namespace lockstep::app
