#include "gpu/gpu_memory.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/divide.h"
#include "base/error.h"
#include "program/memory_text.h"

namespace lockstep::gpu {
namespace {

using program::megabytes;
using program::MemoryClass;
using program::Role;

constexpr std::size_t kFloat = sizeof(float);
constexpr std::size_t kPartFloats = kPartAlignment / kFloat;
constexpr auto kLanes = static_cast<std::size_t>(arithmetic::kPack);

std::size_t aligned(std::size_t floats) { return round_up(floats, kPartFloats); }

constexpr const char* kRemedy = "use a smaller --batch or more devices";
constexpr const char* kEvaluationRemedy = "use a device that has more";

std::string what_is_free(const Driver& driver) {
  return fmt::format("{} has {} of its {} of memory free", driver.facts().name,
                     megabytes(driver.free_memory()), megabytes(driver.facts().memory));
}

// Layer by layer over a group of packs.
program::Nest nest_of(const program::Program& program, const MemorySizes& sizes) {
  program::Nest nest{.most_packs = std::max(1, sizes.most_packs),
                     .group = sizes.group,
                     .keeps_activations = sizes.keeps_activations,
                     .stack = sizes.stack,
                     .pack_sums = true,
                     .mask_bits = 2};
  for (const program::Segment& segment : program.segments)
    nest.grouped.push_back({0, segment.instructions.size()});
  return nest;
}

// Sum after sum, then the parameters without a sum: running statistics, and all of an evaluation.
std::size_t stretch_floats_of(const program::Program& program) {
  std::size_t floats = 0;
  const auto add = [&](program::BufferId id) {
    floats += aligned(program.buffers[static_cast<std::size_t>(id)].elements);
  };
  for (const program::Sum& sum : program.sums) add(sum.gradient);
  for (const program::BufferId id : program.parameters) {
    if (std::ranges::find(program.sums, id, &program::Sum::parameter) == program.sums.end()) add(id);
  }
  return floats;
}

}  // namespace

struct GpuMemory::Need {
  const char* what = "";
  const char* remedy = "";
  program::MemoryPlan plan = {};
  std::size_t largest = 0;

  std::string text() const {
    return fmt::format("{} needs {} ({}); {}", what, megabytes(plan.peak()), classes_text(plan), remedy);
  }
};

GpuMemory::GpuMemory(Driver& driver, const program::Program& program, const MemorySizes& sizes,
                     const GpuMemory* lender)
    : driver_(driver), program_(program), sizes_(sizes), plan_(plan_of(program, sizes)) {
  if (const std::string text = shortage(driver, program, sizes); !text.empty())
    throw Error(Fault::device, "{}", text);
  try {
    const std::vector<Allocation> all = allocations(program_, sizes_, plan_, blocks_);
    for (const Allocation& each : all) *each.to = driver_.allocate(each.bytes);
    // OpenCL's drivers may look for room when memory is first used: that is now.
    const std::byte nothing{};
    for (const Allocation& each : all) driver_.write(Queue::compute, **each.to, 0, {&nothing, 1});
    driver_.wait(*driver_.record(Queue::compute));
  } catch (const Error& error) {  // drivers keep memory back, round up and share it with others
    throw Error(error.fault(), "{}; {}", error.what(), need_of(program, sizes).text());
  }
  plan_stretch();
  divide_stretches(lender);
}

void GpuMemory::enlarge(std::size_t inbox, int stack) {
  const auto give = [&](std::unique_ptr<Memory>& memory, std::size_t bytes, const char* what) {
    memory.reset();
    if (bytes > driver_.free_memory())
      throw Error(Fault::device, "{}, {} needs {}; {}", what_is_free(driver_), what, megabytes(bytes),
                  kRemedy);
    memory = driver_.allocate(bytes);
  };
  if (inbox > sizes_.inbox) give(blocks_.inbox, inbox * kFloat, "what it receives in an exchange");
  sizes_.inbox = std::max(sizes_.inbox, inbox);
  if (stack <= sizes_.stack) return;
  sizes_.stack = stack;
  for (auto& [id, memory] : blocks_.stacks)
    give(memory,
         static_cast<std::size_t>(stack) * program_.buffers[static_cast<std::size_t>(id)].elements * kFloat,
         "a deeper stack of partial sums");
}

// A state of a part of a parameter lies where that part does.
void GpuMemory::plan_stretch() {
  stretch_floats_ = stretch_floats_of(program_);
  std::size_t first = 0;
  for (const program::Sum& sum : program_.sums) {
    offsets_.push_back(first);
    first += aligned(program_.buffers[static_cast<std::size_t>(sum.gradient)].elements);
  }
  for (const program::BufferId id : program_.parameters) {
    const auto sum = std::ranges::find(program_.sums, id, &program::Sum::parameter);
    const bool summed = sum != program_.sums.end();
    parameter_offsets_.push_back(summed ? offsets_[static_cast<std::size_t>(sum - program_.sums.begin())]
                                        : first);
    if (!summed) first += aligned(program_.buffers[static_cast<std::size_t>(id)].elements);
  }
}

std::size_t GpuMemory::room(int sum) const {
  const program::BufferId gradient = program_.sums[static_cast<std::size_t>(sum)].gradient;
  return aligned(program_.buffers[static_cast<std::size_t>(gradient)].elements);
}

std::vector<GpuMemory::Allocation> GpuMemory::allocations(const program::Program& program,
                                                          const MemorySizes& sizes,
                                                          const program::MemoryPlan& plan, Blocks& blocks) {
  std::vector<Allocation> list;
  const auto add = [&list](MemoryClass of, std::size_t bytes, std::unique_ptr<Memory>& to) {
    if (bytes > 0) list.push_back({of, bytes, &to});
  };
  const auto group = static_cast<std::size_t>(sizes.group);
  const auto most_packs = static_cast<std::size_t>(std::max(1, sizes.most_packs));
  const std::size_t stretch = std::max<std::size_t>(1, stretch_floats_of(program)) * kFloat;
  if (!sizes.borrows_parameters) add(MemoryClass::parameters, stretch, blocks.parameters);
  add(MemoryClass::gradients, stretch, blocks.gradients);
  blocks.states.resize(arithmetic::update_rule(program.rule).states.size());
  for (std::unique_ptr<Memory>& state : blocks.states) add(MemoryClass::states, stretch, state);

  blocks.places.resize(plan.places.size());
  for (std::size_t place = 0; place < plan.places.size(); ++place) {
    const auto largest = static_cast<std::size_t>(plan.places[place].buffers.front());
    add(plan.buffers[largest].of, plan.places[place].bytes, blocks.places[place]);
  }
  blocks.buffers.resize(program.buffers.size());
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    const program::MemoryPlan::Numbers& numbers = plan.buffers[i];
    const Role role = program.buffers[i].role;
    if (role == Role::partial)
      add(numbers.of, numbers.all_bytes(), blocks.stacks[static_cast<program::BufferId>(i)]);
    const bool of_packs = role == Role::activation || role == Role::mask || role == Role::labels;
    if (role == Role::statistics || (of_packs && numbers.place < 0))
      add(numbers.of, numbers.all_bytes(), blocks.buffers[i]);
  }
  for (const auto& [id, floats] : sizes.prepared)
    add(MemoryClass::prepared, floats * kFloat, blocks.buffers[static_cast<std::size_t>(id)]);
  for (const auto& [id, floats] : sizes.prepared_back)
    add(MemoryClass::prepared, floats * kFloat, blocks.prepared_back[id]);
  blocks.scratch.resize(sizes.scratch.size());
  for (std::size_t use = 0; use < sizes.scratch.size(); ++use)
    add(MemoryClass::scratch, sizes.scratch[use] * kFloat, blocks.scratch[use]);

  const auto pixels = static_cast<std::size_t>(program.input.elements());
  add(MemoryClass::activations, std::max<std::size_t>(1, group * kLanes * pixels), blocks.pixels);
  add(MemoryClass::scratch, group * kLanes * sizeof(std::uint32_t), blocks.examples);
  add(MemoryClass::activations, most_packs * kLanes * sizeof(int), blocks.predicted);
  add(MemoryClass::scratch, 2 * most_packs * sizeof(int), blocks.schedule);
  add(MemoryClass::scratch, sizeof(int), blocks.verdict);
  add(MemoryClass::inbox, sizes.inbox * kFloat, blocks.inbox);
  return list;
}

GpuMemory::Need GpuMemory::need_of(const program::Program& program, const MemorySizes& sizes) {
  const bool trains =
      std::ranges::any_of(program.sums, [](const program::Sum& s) { return s.parameter >= 0; });
  Need need{.what = trains ? "the training" : "the evaluation",
            .remedy = trains ? kRemedy : kEvaluationRemedy};
  Blocks none;
  need.plan = plan_of(program, sizes);
  for (const Allocation& each : allocations(program, sizes, need.plan, none))
    need.largest = std::max(need.largest, each.bytes);
  return need;
}

program::MemoryPlan GpuMemory::plan_of(const program::Program& program, const MemorySizes& sizes) {
  program::MemoryPlan plan = program::plan_memory(program, nest_of(program, sizes));
  Blocks none;
  plan.by_class = {};
  for (const Allocation& each : allocations(program, sizes, plan, none)) plan[each.of] += each.bytes;
  return plan;
}

device::FreeMemory GpuMemory::free_on(const Driver& driver) {
  return {.of = driver.facts().name,
          .bytes = driver.free_memory(),
          .text = what_is_free(driver),
          .remedy = "more devices"};
}

std::string GpuMemory::shortage(const Driver& driver, const program::Program& program,
                                const MemorySizes& sizes, double of_free_memory) {
  const Need need = need_of(program, sizes);
  const Facts& facts = driver.facts();
  if (static_cast<double>(need.plan.peak()) > of_free_memory * static_cast<double>(driver.free_memory()))
    return fmt::format("{}, {}", what_is_free(driver), need.text());
  if (need.largest > facts.largest_allocation)
    return fmt::format("{} gives at most {} of memory at once, {} needs {} ({}); {}", facts.name,
                       megabytes(facts.largest_allocation), need.what, megabytes(need.largest),
                       classes_text(need.plan), need.remedy);
  return {};
}

// Parameters and gradients are parts of their stretches.
void GpuMemory::divide_stretches(const GpuMemory* lender) {
  const auto part = [this](program::BufferId id, const Memory& of, std::size_t first) {
    blocks_.buffers[static_cast<std::size_t>(id)] =
        driver_.part(of, first * kFloat, program_.buffers[static_cast<std::size_t>(id)].elements * kFloat);
  };
  for (std::size_t i = 0; i < program_.sums.size(); ++i)
    part(program_.sums[i].gradient, *blocks_.gradients, offsets_[i]);
  const GpuMemory& owner = lender != nullptr ? *lender : *this;
  for (std::size_t i = 0; i < program_.parameters.size(); ++i)
    part(program_.parameters[i], *owner.parameters(), owner.parameter_offsets_.at(i));
}

}  // namespace lockstep::gpu
