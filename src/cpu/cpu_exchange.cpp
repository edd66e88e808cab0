// What a CPU device does for an exchange.
#include <algorithm>

#include "base/error.h"
#include "cpu/cpu_executable.h"
#include "cpu/part.h"
#include "cpu/update.h"

namespace lockstep::cpu {
namespace {

using program::BufferId;
using program::exchange::Join;
using program::exchange::Place;
using program::exchange::Range;

constexpr std::size_t kChunk = 1024;  // a few KB: the whole tree of a chunk stays in L1

}  // namespace

void CpuExecutable::expect(const program::exchange::List& list) {
  const std::size_t floats = program::exchange::inbox_floats(list);
  if (inbox_.size() < floats) inbox_ = AlignedBuffer<float>(floats);
}

float* CpuExecutable::subtree(BufferId partial, std::size_t index) const {
  const StackPlace place = division_.subtrees.at(index);
  return arena_.partial(partial, place.thread, place.level);
}

// Makes the device's subtrees of what its threads hold.
void CpuExecutable::gather(BufferId partial, std::size_t first, std::size_t count) const {
  const auto sum = [&](int piece) {
    const StackPlace place = division_.pieces[static_cast<std::size_t>(piece)];
    return arena_.partial(partial, place.thread, place.level) + first;
  };
  for (const arithmetic::JoinPair& pair : division_.gather) {
    kernels_.add(sum(pair.into), sum(pair.from), count);
  }
}

std::span<float> CpuExecutable::numbers(const Place& place) {
  const program::Sum& sum = program_.sums[static_cast<std::size_t>(place.range.sum)];
  const auto from = [&](float* start) { return std::span(start + place.range.first, place.range.count); };
  switch (place.of) {
    case Place::Of::held:
      return from(subtree(sum.partial, place.slot));
    case Place::Of::inbox:
      return inbox_.span().subspan(place.slot, place.range.count);
    case Place::Of::gradient:
      return from(arena_.shared(sum.gradient));
    case Place::Of::parameter:
      return from(arena_.shared(sum.parameter));
    case Place::Of::verdict:
      break;
  }
  throw Error(Fault::ours, "defect: a verdict is not a device's");
}

void CpuExecutable::join(std::span<const Join> joins, const device::StepInput& input) {
  const auto examples = static_cast<float>(input.minibatch.examples.size());
  const auto work = [&](int thread, int threads) {
    std::vector<float*> sums;
    for (const Join& join : joins) {
      const program::Sum& sum = program_.sums[static_cast<std::size_t>(join.range.sum)];
      sums.clear();
      for (const Place& place : join.subtrees) sums.push_back(numbers(place).data());
      float* const gradient = arena_.shared(sum.gradient) + join.range.first;
      const Part part = part_of(join.range.count, thread, threads);
      for (std::size_t first = part.first; first < part.first + part.count; first += kChunk) {
        const std::size_t count = std::min(kChunk, part.first + part.count - first);
        if (options_.alone) gather(sum.partial, join.range.first + first, count);
        for (const arithmetic::JoinPair& pair : join.pairs) {
          kernels_.add(sums[static_cast<std::size_t>(pair.into)] + first,
                       sums[static_cast<std::size_t>(pair.from)] + first, count);
        }
        kernels_.divide(sums[0] + first, gradient + first, count, examples);
      }
    }
  };
  if (team_.size() == 1) {
    work(0, 1);  // perhaps in the middle of a segment
  } else {
    on_all_threads(work);
  }
}

bool CpuExecutable::check(std::span<const Range> gradients) {
  std::atomic<bool> finite{true};
  on_all_threads([&](int thread, int threads) {
    for (const Range& range : gradients) {
      const Part part = part_of(range.count, thread, threads);
      const BufferId gradient = program_.sums[static_cast<std::size_t>(range.sum)].gradient;
      if (!kernels_.all_finite(arena_.shared(gradient) + range.first + part.first, part.count))
        finite = false;
    }
  });
  return finite;
}

void CpuExecutable::update(std::span<const program::exchange::Update> updates,
                           const device::StepInput& input) {
  on_all_threads([&](int thread, int threads) {
    for (const program::exchange::Update& update : updates) {
      const program::Sum& sum = program_.sums[static_cast<std::size_t>(update.range.sum)];
      const Part part = part_of(update.range.count, thread, threads);
      const std::size_t first = update.range.first + part.first;
      UpdateOperands operands{.weights = arena_.shared(sum.parameter) + first,
                              .gradient = arena_.shared(sum.gradient) + first,
                              .count = part.count};
      for (std::size_t s = 0; s < sum.states.size(); ++s)
        operands.states[s] = arena_.shared(sum.states[s]) + (first - sum.states_first);
      cpu::update(kernels_, program_.rule, operands, input.update);
    }
  });
}

}  // namespace lockstep::cpu
