// What a CPU device does for an exchange.
#include <algorithm>

#include "arithmetic/statistics.h"
#include "base/error.h"
#include "cpu/cpu_executable.h"
#include "cpu/part.h"
#include "device/join_counts.h"

namespace lockstep::cpu {
namespace {

using program::BufferId;
using program::Join;
using program::Region;
using program::Role;

constexpr std::size_t kChunk = 1024;  // a few KB: the whole tree of a chunk stays in L1

}  // namespace

const Division& CpuExecutable::division_of(BufferId partial) const {
  const Division* const division = current_->divisions.at(static_cast<std::size_t>(partial));
  lockstep::check(division != nullptr, "a program without packs has no sums over them");
  return *division;
}

float* CpuExecutable::subtree(BufferId partial, std::size_t index) const {
  const StackPlace place = division_of(partial).subtrees.at(index);
  return arena_.partial(partial, place.thread, place.level);
}

// Makes the device's subtrees of what its threads hold.
void CpuExecutable::add_threads_sums(BufferId partial, std::size_t first, std::size_t count) const {
  const Division& division = division_of(partial);
  const auto sum = [&](int piece) {
    const StackPlace place = division.pieces[static_cast<std::size_t>(piece)];
    return arena_.partial(partial, place.thread, place.level) + first;
  };
  for (const arithmetic::JoinPair& pair : division.joins) {
    kernels_.add(sum(pair.into), sum(pair.from), count);
  }
}

void CpuExecutable::add_threads_counts(BufferId counts) const {
  const std::size_t size = first_program().buffers[static_cast<std::size_t>(counts)].elements;
  std::int64_t* const sum = arena_.counts(counts);
  std::fill_n(sum, size, 0);
  for (int thread = 0; thread < active_; ++thread) {
    const std::int64_t* const more = arena_.thread_counts(counts, thread);
    for (std::size_t i = 0; i < size; ++i) sum[i] += more[i];
  }
}

std::span<std::byte> CpuExecutable::bytes(const device::Transfer& transfer) {
  const Region& region = transfer.region;
  const auto floats = [&](float* start) {
    return std::as_writable_bytes(std::span(start + region.first, region.count));
  };
  switch (current_->program.buffers[static_cast<std::size_t>(region.buffer)].role) {
    case Role::partial:
      return floats(subtree(region.buffer, static_cast<std::size_t>(region.row)));
    case Role::parameter:
    case Role::gradient:
    case Role::state:
    case Role::inbox:
    case Role::statistics:
      return floats(arena_.shared(region.buffer));
    case Role::counts:
      return std::as_writable_bytes(std::span(arena_.counts(region.buffer) + region.first, region.count));
    case Role::activation: {
      const int pack = region.row - division_of(region.buffer).share.first;
      return {arena_.kept_pack(region.buffer, pack) + region.first * kPack * sizeof(float),
              program::region_bytes(current_->program, region)};
    }
    case Role::mask:
    case Role::labels:
    case Role::prepared:
      break;
  }
  throw Error(Fault::ours, "defect: this buffer cannot travel");
}

void CpuExecutable::join(std::span<const Join> joins, const device::StepInput& input) {
  const auto examples = static_cast<float>(input.minibatch.examples.size());
  const auto work = [&](int thread, int threads) {
    std::vector<float*> values;
    for (const Join& join : joins) {
      if (device::joins_counts(join)) {
        if (thread == 0) device::join_counts(join, [this](BufferId id) { return counts(id); });
        continue;
      }
      values.clear();
      for (const Region& region : join.inputs)
        values.push_back(reinterpret_cast<float*>(bytes({region}).data()));
      // The three numbers of a channel lie apart, so one thread takes them all.
      const Part part = join.op == Join::Operator::statistics ? Part{0, thread == 0 ? join.output.count : 0}
                                                              : part_of(join.output.count, thread, threads);
      const std::size_t chunk = join.op == Join::Operator::statistics ? join.output.count : kChunk;
      for (std::size_t first = part.first; first < part.first + part.count; first += chunk)
        join_floats(join, values, first, std::min(chunk, part.first + part.count - first), examples);
    }
  };
  if (team_.size() == 1) {
    work(0, 1);  // perhaps in the middle of a segment
  } else {
    on_all_threads(work);
  }
}

// Elements [first, first + count) of the output.
void CpuExecutable::join_floats(const Join& join, std::span<float* const> values, std::size_t first,
                                std::size_t count, float examples) {
  float* const output = reinterpret_cast<float*>(bytes({join.output}).data()) + first;
  if (options_.alone) {
    for (const Region& input : join.inputs) {
      if (input.row == 0 &&
          current_->program.buffers[static_cast<std::size_t>(input.buffer)].role == Role::partial)
        add_threads_sums(input.buffer, input.first + first, count);
    }
  }
  for (const arithmetic::JoinPair& pair : join.pairs)
    meet(join.op, values[static_cast<std::size_t>(pair.into)] + first,
         values[static_cast<std::size_t>(pair.from)] + first, count);
  switch (join.op) {
    case Join::Operator::mean:
      return kernels_.divide(values[0] + first, output, count, examples);
    case Join::Operator::add:
      return kernels_.divide(values[0] + first, output, count, 1.0f);
    case Join::Operator::maximum:
    case Join::Operator::statistics:
    case Join::Operator::integer_add:
    case Join::Operator::both:
      if (output != values[0] + first) std::copy_n(values[0] + first, count, output);
  }
}

void CpuExecutable::meet(Join::Operator op, float* into, const float* from, std::size_t count) const {
  switch (op) {
    case Join::Operator::add:
    case Join::Operator::mean:
      return kernels_.add(into, from, count);
    case Join::Operator::maximum:
      for (std::size_t i = 0; i < count; ++i) into[i] = std::max(into[i], from[i]);
      return;
    case Join::Operator::statistics:
      return arithmetic::join_statistics(into, from, count / 3);
    case Join::Operator::integer_add:
    case Join::Operator::both:
      break;
  }
  throw Error(Fault::ours, "defect: a join of counts among floats");
}

}  // namespace lockstep::cpu
