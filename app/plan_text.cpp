#include "plan_text.h"

#include <algorithm>

#include <fmt/ranges.h>

#include "report/figures.h"

namespace lockstep::app {
namespace {

using program::Lifetime, program::MemoryClass, program::MemoryPlan;

std::string bytes_text(std::size_t bytes) { return report::grouped(static_cast<std::int64_t>(bytes)); }

// The longest that a number of the class is needed. Scratch belongs to no buffer.
Lifetime life_of(MemoryClass of, const MemoryPlan& plan) {
  Lifetime life = Lifetime::pack;
  for (const MemoryPlan::Numbers& numbers : plan.buffers)
    if (numbers.of == of) life = std::max(life, numbers.life);
  return life;
}

}  // namespace

std::string plan_text(const program::Program& program, const MemoryPlan& plan) {
  std::string text = fmt::format("  {:<18}{:>16}  {}\n", "class", "bytes", "needed for a");
  for (std::size_t i = 0; i < program::kMemoryClasses; ++i) {
    const auto of = static_cast<MemoryClass>(i);
    if (plan[of] > 0)
      text +=
          fmt::format("  {:<18}{:>16}  {}\n", name_of(of), bytes_text(plan[of]), name_of(life_of(of, plan)));
  }
  text += fmt::format("  {:<18}{:>16}\n", "peak", bytes_text(plan.peak()));
  for (const MemoryPlan::Place& place : plan.places) {
    if (place.buffers.size() < 2) continue;
    std::vector<std::string> names;
    names.reserve(place.buffers.size());
    for (const program::BufferId id : place.buffers)
      names.push_back(program.buffers[static_cast<std::size_t>(id)].name);
    const std::string each = plan.threads == 1 ? "" : fmt::format(" in each of {} threads", plan.threads);
    text += fmt::format("  share {} bytes{}: {}\n", bytes_text(place.bytes), each, fmt::join(names, ", "));
  }
  return text;
}

}  // namespace lockstep::app
