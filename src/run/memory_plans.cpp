#include "run/memory_plans.h"

namespace lockstep::run {

device::LoadOptions load_options(const Crew& crew, int device, const Programs& programs,
                                 const RunnerOptions& options) {
  const int most = arithmetic::pack_count(options.most_examples);
  return {.most_packs = programs.most_packs(crew.first_rank() + device, most),
          .order = options.order,
          .alone = crew.ranks() == 1,
          .trace = options.trace,
          .direct = crew.direct(device),
          .of_free_memory = options.of_free_memory};
}

std::vector<program::MemoryPlan> memory_plans(Crew& crew, const Programs& programs,
                                              const RunnerOptions& options) {
  const std::vector<program::Program> all = programs.make(arithmetic::pack_count(options.most_examples));
  std::vector<program::MemoryPlan> plans(static_cast<std::size_t>(crew.size()));
  crew.run([&](int device) {
    const auto rank = static_cast<std::size_t>(crew.first_rank() + device);
    plans[static_cast<std::size_t>(device)] =
        crew.device(device).plan(all[rank], load_options(crew, device, programs, options));
  });
  return plans;
}

}  // namespace lockstep::run
