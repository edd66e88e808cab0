#include "device/cpu/cpu_executable.h"

#include <algorithm>
#include <bit>

#include "base/error.h"

namespace lockstep::device::cpu {
namespace {

// Packs that go through the linear layers together: more save trips of their weights and gradients through
// the cache, fewer keep the packs' own numbers in it.
constexpr int kGroup = 4;

int per_thread(int packs, int threads) { return (packs + threads - 1) / threads; }

bool is_linear(const program::Instruction& i) {
  return std::visit(
      [](const auto& operation) {
        if constexpr (requires { operation.convolution; }) return operation.convolution.linear();
        return false;
      },
      i.operation);
}

// The instructions [first, last) that run for a group of packs: from the first linear one to the last.
struct GroupedRange {
  std::size_t first, last;
  bool holds(std::size_t i) const { return i >= first && i < last; }
};
GroupedRange grouped_range(const program::Segment& segment, Order order) {
  const std::vector<program::Instruction>& list = segment.instructions;
  if (order == Order::layer) return {0, list.size()};
  const auto first = std::find_if(list.begin(), list.end(), is_linear);
  const auto last = std::find_if(list.rbegin(), list.rend(), is_linear).base();
  if (first == list.end()) return {list.size(), list.size()};
  return {static_cast<std::size_t>(first - list.begin()), static_cast<std::size_t>(last - list.begin())};
}

}  // namespace

CpuExecutable::CpuExecutable(const program::Program& program, const LoadOptions& options,
                             const Kernels& kernels, ThreadTeam& team)
    : program_(program),
      options_(options),
      kernels_(kernels),
      team_(team),
      most_packs_(arithmetic::pack_count(options.most_examples)),
      active_(std::min(team.size(), most_packs_)),
      group_(options.order == Order::pack ? std::min(kGroup, per_thread(most_packs_, active_))
                                          : per_thread(most_packs_, active_)),
      plans_(make_gather_plans(program_, std::min(kGroup, group_), kernels, cache_sizes())),
      arena_(program_, plan_memory()) {
  program::check_program(program_);
  const StepContext context{arena_, kernels_, plans_, program_, std::min(kGroup, group_)};
  std::size_t scratch = 0;
  for (const program::Segment& segment : program_.segments) {
    ReadySegment& ready = segments_.emplace_back();
    ready.over = segment.over;
    const GroupedRange grouped = grouped_range(segment, options.order);
    ready.first_grouped = grouped.first;
    ready.last_grouped = grouped.last;
    for (const program::Instruction& i : segment.instructions) {
      const bool over_packs = segment.over == program::Segment::Over::packs;
      ready.steps.push_back(over_packs ? make_pack_step(i, context) : make_element_step(i, context));
      scratch = std::max(scratch, ready.steps.back()->scratch_floats());
    }
  }
  for (int thread = 0; thread < active_; ++thread) scratch_.emplace_back(scratch);
}

// A buffer has room for every pack of a group, unless all its uses are on the same side of the grouped
// instructions.
std::vector<int> CpuExecutable::plan_slots() const {
  std::vector<int> slots(program_.buffers.size(), 1), side(program_.buffers.size(), 0);
  for (const program::Segment& segment : program_.segments) {
    const GroupedRange grouped = grouped_range(segment, options_.order);
    for (std::size_t i = 0; i < segment.instructions.size(); ++i) {
      const int here = grouped.holds(i) ? 2 : i < grouped.first ? 1 : 3;
      for (const auto* ids : {&segment.instructions[i].inputs, &segment.instructions[i].outputs}) {
        for (const program::BufferId id : *ids) {
          int& seen = side[static_cast<std::size_t>(id)];
          if (here == 2 || (seen != 0 && seen != here)) slots[static_cast<std::size_t>(id)] = group_;
          seen = here;
        }
      }
    }
  }
  return slots;
}

ArenaSizes CpuExecutable::plan_memory() const {
  ArenaSizes sizes;
  sizes.threads = active_;
  sizes.slots = plan_slots();
  sizes.prepared.assign(program_.buffers.size(), 0);
  for (const auto& [id, plan] : plans_) sizes.prepared[static_cast<std::size_t>(id)] = plan->packed_floats();
  sizes.stack = deepest_stack(most_packs_, active_);
  return sizes;
}

// The deepest stack of partial sums of any thread, for any number of packs up to `most`.
int CpuExecutable::deepest_stack(int most, int threads) {
  constexpr int kTried = 64;
  int deepest = 1;
  for (int packs = 1; packs <= std::min(most, kTried); ++packs) {
    for (const std::vector<arithmetic::JoinStep>& schedule : divide(packs, threads).schedules) {
      for (const arithmetic::JoinStep& step : schedule)
        deepest = std::max(deepest, step.depth - step.joins + 1);
    }
  }
  if (most <= kTried) return deepest;
  // A range of q packs has at most two complete subtrees of every size, and one more for what is being added.
  return 2 * static_cast<int>(std::bit_width(static_cast<unsigned>(per_thread(most, threads)))) + 1;
}

CpuExecutable::Division CpuExecutable::divide(int packs, int threads) {
  Division division;
  division.packs = packs;
  std::vector<arithmetic::PackRange> all;
  for (int thread = 0; thread < threads; ++thread) {
    const arithmetic::PackRange range{packs * thread / threads, packs * (thread + 1) / threads};
    division.ranges.push_back(range);
    division.schedules.push_back(arithmetic::join_schedule(packs, range));
    const std::vector<arithmetic::PackRange> held = arithmetic::cover(packs, range);
    for (std::size_t level = 0; level < held.size(); ++level) {
      division.subtrees.emplace_back(thread, static_cast<int>(level));
      all.push_back(held[level]);
    }
  }
  division.finish = arithmetic::join_pairs(packs, all);
  return division;
}

std::span<float> CpuExecutable::floats_of(program::BufferId buffer, std::size_t count) const {
  const program::Buffer& b = program_.buffers.at(static_cast<std::size_t>(buffer));
  check(b.role == program::Role::parameter || b.role == program::Role::gradient, "{} cannot be copied",
        b.name);
  check(b.elements == count, "{} has {} elements, not {}", b.name, b.elements, count);
  return {arena_.shared(buffer), count};
}

void CpuExecutable::upload(program::BufferId buffer, std::span<const float> values) {
  std::ranges::copy(values, floats_of(buffer, values.size()).begin());
}

void CpuExecutable::download(program::BufferId buffer, std::span<float> values) const {
  std::ranges::copy(floats_of(buffer, values.size()), values.begin());
}

void CpuExecutable::download_activation(program::BufferId buffer, int example,
                                        std::span<float> values) const {
  check(options_.order == Order::layer, "activations are kept in layer order only");
  const int pack = example / kPack, lane = example % kPack;
  for (int thread = 0; thread < active_; ++thread) {
    const arithmetic::PackRange range = division_.ranges.at(static_cast<std::size_t>(thread));
    if (pack < range.first || pack >= range.last) continue;
    const float* const from = arena_.activation(buffer, thread, pack - range.first);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = from[i * kPack + static_cast<std::size_t>(lane)];
  }
}

std::vector<std::int64_t> CpuExecutable::tally() const {
  std::vector<std::int64_t> sum(2 * static_cast<std::size_t>(program_.classes), 0);
  for (int thread = 0; thread < active_; ++thread) {
    const std::int64_t* const counts = arena_.tally(program_.tally, thread);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += counts[i];
  }
  return sum;
}

void CpuExecutable::run_packs(const ReadySegment& segment, Work work) const {
  std::fill_n(arena_.tally(program_.tally, work.thread), 2 * program_.classes, 0);
  const int packs = static_cast<int>(work.schedule.size());
  const auto run_steps = [&](std::size_t from, std::size_t to, int first, int last) {
    work.first = first;
    work.last = last;
    for (std::size_t step = from; step < to; ++step) segment.steps[step]->run(work);
  };
  for (int first = 0; first < packs; first += group_) {
    const int last = std::min(first + group_, packs);
    for (int pack = first; pack < last; ++pack) run_steps(0, segment.first_grouped, pack, pack + 1);
    run_steps(segment.first_grouped, segment.last_grouped, first, last);
    for (int pack = first; pack < last; ++pack) {
      run_steps(segment.last_grouped, segment.steps.size(), pack, pack + 1);
    }
  }
}

bool CpuExecutable::run(std::size_t segment, const StepInput& input) {
  const ReadySegment& ready = segments_.at(segment);
  const int packs = arithmetic::pack_count(static_cast<int>(input.minibatch.examples.size()));
  check(packs >= 1 && packs <= most_packs_, "a minibatch of {} packs where 1 to {} have room", packs,
        most_packs_);
  if (division_.packs != packs) division_ = divide(packs, active_);
  std::atomic<bool> finite{true};
  team_.run([&](int thread) {
    const auto t = static_cast<std::size_t>(thread);
    const bool over_packs = ready.over == program::Segment::Over::packs, active = thread < active_;
    if (over_packs && !active) return;
    Work work{input,
              thread,
              team_.size(),
              active ? division_.ranges[t].first : 0,
              0,
              0,
              active ? std::span<const arithmetic::JoinStep>(division_.schedules[t])
                     : std::span<const arithmetic::JoinStep>(),
              division_.finish,
              division_.subtrees,
              active ? scratch_[t].data() : nullptr,
              finite};
    if (over_packs) {
      run_packs(ready, work);
    } else {
      for (const std::unique_ptr<Step>& step : ready.steps) step->run(work);
    }
  });
  return finite;
}

}  // namespace lockstep::device::cpu
