#include "cpu/arena.h"

#include <algorithm>

#include "base/error.h"

namespace lockstep::cpu {
namespace {

using program::Role;

// Buffers of a thread start a cache line apart, so that threads do not share one.
std::size_t line(std::size_t elements, std::size_t per_line) {
  return (elements + per_line - 1) / per_line * per_line;
}

}  // namespace

Arena::Arena(const program::Program& program, const ArenaSizes& sizes)
    : threads_(sizes.threads), most_packs_(sizes.most_packs), places_(program.buffers.size()) {
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const program::Buffer& buffer = program.buffers[i];
    Place& place = places_[i];
    place.slots = sizes.slots[i];
    place.kept = sizes.kept[i];
    switch (buffer.role) {
      case Role::activation:
        put_into_workspace(place, buffer.elements * kPack * sizeof(float));
        break;
      case Role::mask:
        put_into_workspace(place, buffer.elements * kPack / 8);
        break;
      case Role::labels:
        put_into_workspace(place, kPack);
        break;
      case Role::partial:
        place.stride = line(buffer.elements, 16);
        break;
      case Role::counts:  // of the device, then of each thread
        place.stride = line(buffer.elements, 8);
        place.count_memory =
            AlignedBuffer<std::int64_t>((1 + static_cast<std::size_t>(threads_)) * place.stride);
        break;
      case Role::prepared:
        if (sizes.passing_prepared) {
          put_into_workspace(place, sizes.prepared[i] * sizeof(float));
        } else {
          place.float_memory = AlignedBuffer<float>(sizes.prepared[i]);
        }
        break;
      case Role::parameter:
      case Role::gradient:
      case Role::state:
        if (!sizes.borrowed.contains(static_cast<program::BufferId>(i)))
          place.float_memory = AlignedBuffer<float>(buffer.elements);
        break;
      case Role::inbox:
        break;
    }
    place.floats = place.float_memory.data();
    place.counts = place.count_memory.data();
  }
  for (const auto& [parameter, floats] : sizes.borrowed)
    places_[static_cast<std::size_t>(parameter)].floats = floats;
  for (const auto& [prepared, parameter] : sizes.canonical) {
    places_[static_cast<std::size_t>(prepared)].floats = shared(parameter);
  }
}

void Arena::enlarge(const program::Program& program, int stack) {
  const bool deeper = stack > stack_;
  stack_ = std::max(stack_, stack);
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const program::Buffer& buffer = program.buffers[i];
    Place& place = places_[i];
    if (buffer.role == Role::inbox && buffer.elements > place.float_memory.size())
      place.float_memory = AlignedBuffer<float>(buffer.elements);
    if (buffer.role == Role::partial && deeper)
      place.float_memory = AlignedBuffer<float>(static_cast<std::size_t>(threads_ * stack_) * place.stride);
    if (buffer.role == Role::inbox || buffer.role == Role::partial) place.floats = place.float_memory.data();
  }
}

void Arena::put_into_workspace(Place& place, std::size_t bytes_of_a_slot) {
  place.stride = line(bytes_of_a_slot, 64);
  if (place.kept) {
    place.kept_memory = AlignedBuffer<std::byte>(static_cast<std::size_t>(most_packs_) * place.stride);
    return;
  }
  place.first = workspace_bytes_;
  workspace_bytes_ += static_cast<std::size_t>(place.slots) * place.stride;
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
