// The devices that tests measure on.
#pragma once
#include "cpu/cpu_device.h"
#include "measure/make_crew.h"

namespace lockstep::measure {

inline std::unique_ptr<run::Crew> make_crew_for_test(int devices, int threads) {
  std::vector<std::string> names;
  for (int device = 0; device < devices; ++device) names.push_back("cpu:" + std::to_string(device));
  return std::make_unique<run::Crew>(
      cpu::make_cpu_devices({.names = names, .threads = threads, .bind = false}),
      run::Crew::Options{.share_cores = true});
}

}  // namespace lockstep::measure
