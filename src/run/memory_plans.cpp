#include "run/memory_plans.h"

#include <map>

#include "base/error.h"
#include "program/memory_text.h"

namespace lockstep::run {
namespace {

// What the devices that share a memory need of it.
struct Need {
  device::FreeMemory free = {};
  program::MemoryPlan plan = {};  // only its bytes by class
};

}  // namespace

std::vector<device::LoadOptions> load_options(const Crew& crew, const Programs& programs,
                                              const RunnerOptions& options) {
  const int most = arithmetic::pack_count(options.most_examples);
  std::vector<device::LoadOptions> all;
  all.reserve(static_cast<std::size_t>(crew.size()));
  for (int device = 0; device < crew.size(); ++device)
    all.push_back({.most_packs = programs.most_packs(crew.first_rank() + device, most),
                   .order = options.order,
                   .alone = crew.ranks() == 1,
                   .trace = options.trace,
                   .direct = crew.direct(device),
                   .of_free_memory = options.of_free_memory});
  return all;
}

std::vector<program::MemoryPlan> memory_plans(Crew& crew, const std::vector<program::Program>& programs,
                                              const std::vector<device::LoadOptions>& options) {
  std::vector<program::MemoryPlan> plans(static_cast<std::size_t>(crew.size()));
  crew.run([&](int device) {
    const auto d = static_cast<std::size_t>(device);
    const int rank = crew.first_rank() + device;
    plans[d] = crew.device(device).plan(programs[static_cast<std::size_t>(rank)], options[d]);
  });
  return plans;
}

void check_memory(Crew& crew, const std::vector<program::MemoryPlan>& plans, program::Purpose purpose) {
  std::vector<device::FreeMemory> free(plans.size());
  crew.run([&](int device) { free[static_cast<std::size_t>(device)] = crew.device(device).free_memory(); });
  std::map<std::string, Need> needs;
  for (std::size_t d = 0; d < plans.size(); ++d) {
    Need& need = needs[free[d].of];
    need.free = free[d];
    for (std::size_t i = 0; i < program::kMemoryClasses; ++i) need.plan.by_class[i] += plans[d].by_class[i];
  }
  const bool evaluates = purpose == program::Purpose::evaluation;
  for (const auto& [of, need] : needs)
    if (need.plan.peak() > need.free.bytes)
      throw Error(Fault::device, "{}, the {} needs {} ({}); use {}{}", need.free.text,
                  evaluates ? "evaluation" : "training", program::megabytes(need.plan.peak()),
                  program::classes_text(need.plan), evaluates ? "" : "a smaller --batch or ",
                  need.free.remedy);
}

}  // namespace lockstep::run
