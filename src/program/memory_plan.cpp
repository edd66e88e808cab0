#include "program/memory_plan.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "arithmetic/pack.h"
#include "base/divide.h"
#include "program/crossing.h"
#include "program/life.h"

namespace lockstep::program {
namespace {

constexpr auto kLanes = static_cast<std::size_t>(arithmetic::kPack);

MemoryClass class_of(Role role) {
  switch (role) {
    case Role::activation:
      return MemoryClass::activations;
    case Role::mask:
      return MemoryClass::masks;
    case Role::labels:
      return MemoryClass::labels;
    case Role::parameter:
      return MemoryClass::parameters;
    case Role::prepared:
      return MemoryClass::prepared;
    case Role::partial:
      return MemoryClass::partial_sums;
    case Role::gradient:
      return MemoryClass::gradients;
    case Role::state:
      return MemoryClass::states;
    case Role::inbox:
      return MemoryClass::inbox;
    case Role::statistics:
      return MemoryClass::statistics;
    case Role::counts:
      break;
  }
  return MemoryClass::counts;
}

// Finds places for numbers that lie in a workspace.
class Placer {
 public:
  Placer(const Program& program, MemoryPlan& plan) : plan_(plan) {
    for (const Segment& segment : program.segments) {
      if (segment.over != Segment::Over::packs) continue;
      for (const Instruction& i : segment.instructions) instructions_.push_back(&i);
    }
  }

  void add(BufferId buffer, MemoryPlan::Numbers& numbers, const Life& life) {
    if (numbers.all_bytes() > 0) tenants_.push_back({buffer, &numbers, life});
  }

  void place() {
    std::ranges::stable_sort(tenants_, std::ranges::greater{},
                             [](const Tenant& t) { return t.numbers->all_bytes(); });
    std::vector<std::vector<const Tenant*>> held;  // by place
    for (const Tenant& tenant : tenants_) {
      // Places are made in the order of their sizes, so the last one that is free is the smallest.
      std::size_t at = held.size();
      while (at > 0 && !std::ranges::all_of(held[at - 1],
                                            [&](const Tenant* other) { return may_share(*other, tenant); }))
        --at;
      if (at == 0) {
        held.emplace_back();
        plan_.places.push_back({plan_.places_bytes, tenant.numbers->all_bytes()});
        plan_.places_bytes += tenant.numbers->all_bytes();
        at = held.size();
      }
      held[at - 1].push_back(&tenant);
      plan_.places[at - 1].buffers.push_back(tenant.buffer);
      tenant.numbers->place = static_cast<int>(at) - 1;
    }
  }

 private:
  struct Tenant {
    BufferId buffer;
    MemoryPlan::Numbers* numbers;
    Life life;
  };

  bool may_share(const Tenant& a, const Tenant& b) const {
    return !a.life.meets(b.life) || overwrites(a, b) || overwrites(b, a);
  }

  // Does one instruction read `before` for the last time and write `after` over it, pack by pack?
  bool overwrites(const Tenant& before, const Tenant& after) const {
    if (before.life.last != after.life.first || before.numbers->bytes != after.numbers->bytes ||
        before.numbers->copies != after.numbers->copies)
      return false;
    const Instruction& i = *instructions_[static_cast<std::size_t>(after.life.first)];
    if (i.outputs != std::vector{after.buffer}) return false;
    bool reads = false;
    for (std::size_t input = 0; input < i.inputs.size(); ++input) {
      if (i.inputs[input] != before.buffer) continue;
      reads = true;
      if (!may_overwrite(i, input)) return false;
    }
    return reads;
  }

  MemoryPlan& plan_;
  std::vector<const Instruction*> instructions_;  // over packs, as Life counts them
  std::vector<Tenant> tenants_;
};

// Bytes of one copy.
std::size_t bytes_of(const Buffer& buffer, std::size_t prepared, const Nest& nest) {
  switch (buffer.role) {
    case Role::activation:
      return buffer.elements * kLanes * sizeof(float);
    case Role::mask:
      return buffer.elements * kLanes * static_cast<std::size_t>(nest.mask_bits) / 8;
    case Role::labels:
      return kLanes;
    case Role::prepared:
      return prepared;
    case Role::counts:
      return buffer.elements * sizeof(std::int64_t);
    case Role::parameter:
    case Role::partial:
    case Role::gradient:
    case Role::state:
    case Role::inbox:
    case Role::statistics:
      break;
  }
  return buffer.elements * sizeof(float);
}

}  // namespace

std::string_view name_of(MemoryClass of) {
  constexpr std::array<std::string_view, kMemoryClasses> kNames{"parameters",
                                                                "gradients",
                                                                "optimizer states",
                                                                "prepared weights",
                                                                "partial sums",
                                                                "activations",
                                                                "masks",
                                                                "labels",
                                                                "inbox",
                                                                "statistics",
                                                                "counts",
                                                                "scratch"};
  return kNames[static_cast<std::size_t>(of)];
}

std::string_view name_of(Lifetime life) {
  constexpr std::array<std::string_view, 3> kNames{"pack", "step", "run"};
  return kNames[static_cast<std::size_t>(life)];
}

std::size_t MemoryPlan::peak() const {
  return std::accumulate(by_class.begin(), by_class.end(), std::size_t{0});
}

MemoryPlan plan_memory(const Program& program, const Nest& nest) {
  const std::vector<bool> crosses = crosses_segments(program);
  const std::vector<Life> lives = lives_of(program, nest);
  MemoryPlan plan;
  plan.threads = nest.threads;
  plan.workspaces = nest.workspaces.value_or(nest.threads);
  plan.stack = nest.stack;
  plan.buffers.resize(program.buffers.size());
  if (nest.pack_sums) plan.pack_sums.resize(program.buffers.size());
  Placer placer(program, plan);
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    const Buffer& buffer = program.buffers[i];
    const auto id = static_cast<BufferId>(i);
    MemoryPlan::Numbers& numbers = plan.buffers[i];
    numbers.of = class_of(buffer.role);
    numbers.bytes =
        round_up(bytes_of(buffer, i < nest.prepared.size() ? nest.prepared[i] : 0, nest), nest.line);
    switch (buffer.role) {
      case Role::activation:
      case Role::mask:
      case Role::labels:
        numbers.life = crosses[i] ? Lifetime::step : Lifetime::pack;
        numbers.copies = crosses[i] ? nest.most_packs : lives[i].copies;
        if (!crosses[i]) placer.add(id, numbers, lives[i].used() ? lives[i] : kAlways);
        break;
      case Role::prepared:
        numbers.life = nest.prepares_in_workspace ? Lifetime::pack : Lifetime::step;
        if (nest.prepares_in_workspace) placer.add(id, numbers, kAlways);
        break;
      case Role::partial:
        numbers.life = Lifetime::step;
        numbers.copies = nest.threads * nest.stack;
        if (!nest.pack_sums) break;
        plan.pack_sums[i] = {MemoryClass::partial_sums, Lifetime::pack, numbers.bytes, nest.group};
        placer.add(id, plan.pack_sums[i], lives[i].used() ? lives[i] : kAlways);
        break;
      case Role::counts:
        numbers.life = Lifetime::step;
        numbers.copies = nest.counts_copies;
        break;
      case Role::gradient:
      case Role::inbox:
      case Role::statistics:
        numbers.life = Lifetime::step;
        break;
      case Role::parameter:
      case Role::state:
        break;
    }
    if (i < nest.borrowed.size() && nest.borrowed[i]) numbers.bytes = 0;
  }
  placer.place();
  plan.workspace_bytes = plan.places_bytes + nest.scratch;

  const auto workspaces = static_cast<std::size_t>(plan.workspaces);
  for (const MemoryPlan::Numbers& numbers : plan.buffers)
    if (numbers.place < 0) plan[numbers.of] += numbers.all_bytes();
  for (const MemoryPlan::Place& place : plan.places) {
    const auto largest = static_cast<std::size_t>(place.buffers.front());
    plan[plan.buffers[largest].of] += workspaces * place.bytes;
  }
  plan[MemoryClass::scratch] += workspaces * nest.scratch;
  return plan;
}

}  // namespace lockstep::program
