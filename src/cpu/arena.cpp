#include "cpu/arena.h"

#include <algorithm>

#include "base/error.h"

namespace lockstep::cpu {

using program::Role;

void Arena::allocate(const program::Program& program, const program::MemoryPlan& plan,
                     const ArenaLinks& links) {
  threads_ = plan.threads;
  stack_ = plan.stack;
  locations_.resize(program.buffers.size());
  for (std::size_t i = 0; i < locations_.size(); ++i) {
    const program::Buffer& buffer = program.buffers[i];
    const program::MemoryPlan::Numbers& numbers = plan.buffers[i];
    Location& location = locations_[i];
    location.slots = numbers.copies;
    location.stride = numbers.bytes;
    if (numbers.place >= 0) {
      location.first = plan.places[static_cast<std::size_t>(numbers.place)].first;
      continue;
    }
    switch (buffer.role) {
      case Role::activation:
      case Role::mask:
      case Role::labels:
        location.kept = numbers.life == program::Lifetime::step;
        give(location.kept_memory, numbers.all_bytes());
        break;
      case Role::counts:  // of the device, then of each thread
        location.stride = numbers.bytes / sizeof(std::int64_t);
        give(location.count_memory, numbers.all_bytes());
        break;
      case Role::partial:
        location.stride = numbers.bytes / sizeof(float);
        [[fallthrough]];
      case Role::prepared:
      case Role::parameter:
      case Role::gradient:
      case Role::state:
      case Role::inbox:
      case Role::statistics:
        if (numbers.bytes > 0) give(location.float_memory, numbers.all_bytes());
        break;
    }
    location.floats = location.float_memory.data();
    location.counts = location.count_memory.data();
  }
  for (const auto& [parameter, floats] : links.borrowed)
    locations_[static_cast<std::size_t>(parameter)].floats = floats;
  for (const auto& [prepared, parameter] : links.canonical)
    locations_[static_cast<std::size_t>(prepared)].floats = shared(parameter);
}

void Arena::enlarge(const program::Program& program, int stack) {
  const bool deeper = stack > stack_;
  stack_ = std::max(stack_, stack);
  for (std::size_t i = 0; i < locations_.size(); ++i) {
    const program::Buffer& buffer = program.buffers[i];
    Location& location = locations_[i];
    const bool has_own_size = buffer.role == Role::inbox || buffer.role == Role::statistics;
    if (has_own_size && buffer.elements > location.float_memory.size())
      give(location.float_memory, buffer.elements * sizeof(float));
    if (buffer.role == Role::partial && deeper)
      give(location.float_memory,
           static_cast<std::size_t>(threads_ * stack_) * location.stride * sizeof(float));
    if (has_own_size || buffer.role == Role::partial) location.floats = location.float_memory.data();
  }
}

std::int64_t* Arena::thread_counts(program::BufferId id, int thread) const {
  return at(id).counts + static_cast<std::size_t>(1 + thread) * at(id).stride;
}

float* Arena::partial(program::BufferId id, int thread, int level) const {
  return at(id).floats + static_cast<std::size_t>(thread * stack_ + level) * at(id).stride;
}

JoinTarget Arena::join_target(program::BufferId id, int thread, const arithmetic::JoinStep& step) const {
  check(step.joins <= JoinTarget::kMaxJoins && step.depth - step.joins < stack_,
        "a stack of {} sums is too small", stack_);
  JoinTarget target;
  target.joins = step.joins;
  for (int j = 0; j < step.joins; ++j) {
    target.sums[static_cast<std::size_t>(j)] = partial(id, thread, step.depth - 1 - j);
  }
  target.destination = partial(id, thread, step.depth - step.joins);
  return target;
}

}  // namespace lockstep::cpu
