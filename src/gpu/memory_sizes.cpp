#include "gpu/memory_sizes.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "gpu/launch_plan.h"
#include "program/crossing.h"

namespace lockstep::gpu {
namespace {

using program::Role;

// Packs that go through the layers together: enough to fill a GPU, few enough for its memory.
constexpr int kMostPacksAtOnce = 64;

// Does an activation outlive its segment? Then every pack of the share has a place of its own.
bool keeps_activations(const program::Program& program) {
  const std::vector<bool> crosses = program::crosses_segments(program);
  for (std::size_t i = 0; i < crosses.size(); ++i) {
    const Role role = program.buffers[i].role;
    if (crosses[i] && (role == Role::activation || role == Role::mask || role == Role::labels)) return true;
  }
  return false;
}

// Kernels count the floats of an activation in ints. The first one that they cannot count, or null.
const program::Buffer* uncountable(const program::Program& program, int group) {
  const auto most = static_cast<std::size_t>(std::numeric_limits<int>::max());
  const auto found = std::ranges::find_if(program.buffers, [&](const program::Buffer& buffer) {
    return buffer.role == Role::activation &&
           buffer.elements * arithmetic::kPack * static_cast<std::size_t>(group) > most;
  });
  return found == program.buffers.end() ? nullptr : &*found;
}

}  // namespace

int deepest_stack(const program::Program& program) {
  int deepest = 1;
  for (const program::Segment& segment : program.segments) {
    if (segment.over != program::Segment::Over::packs) continue;
    for (const arithmetic::JoinStep& step : arithmetic::join_schedule(program.packs, segment.packs))
      deepest = std::max(deepest, step.depth - step.joins + 1);
  }
  return deepest;
}

std::size_t inbox_floats(const program::Program& program) {
  std::size_t floats = 0;
  for (const program::Buffer& buffer : program.buffers) {
    if (buffer.role == Role::inbox) floats += buffer.elements;
  }
  return floats;
}

MemorySizes memory_sizes(const program::Program& program, const device::LoadOptions& options,
                         const Driver& driver) {
  const int share = options.most_packs;
  const bool all_at_once = options.order == device::Order::layer || keeps_activations(program);
  MemorySizes sizes;
  sizes.most_packs = std::max(1, share);
  sizes.stack = deepest_stack(program);
  sizes.inbox = inbox_floats(program);
  sizes.borrows_parameters = options.parameters_of != nullptr;
  sizes.keeps_activations = options.order == device::Order::layer;
  sizes.group = std::max(1, all_at_once ? share : std::min(share, kMostPacksAtOnce));
  for (;;) {
    plan_launches(program, driver.style(), sizes);
    const bool smallest = sizes.group == 1 || all_at_once;
    const program::Buffer* const too_large = uncountable(program, sizes.group);
    if (smallest && too_large != nullptr)
      throw Error(Fault::device,
                  "{}: {} of {} packs at once has more floats than a GPU's kernels count; use more devices",
                  driver.facts().name, too_large->name, sizes.group);
    const bool fits =
        too_large == nullptr && GpuMemory::shortage(driver, program, sizes, options.of_free_memory).empty();
    if (smallest || fits) return sizes;
    sizes.group = (sizes.group + 1) / 2;
  }
}

}  // namespace lockstep::gpu
