#include "cpu/cpu_executable.h"

#include <algorithm>
#include <bit>

#include "base/error.h"

namespace lockstep::cpu {
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

// Gains from several packs at once.
bool likes_groups(const program::Instruction& i, const ConvolutionPlans& plans) {
  const auto takes_several = [&](Direction direction) {
    const auto plan = plans.layers.find({i.inputs[1], direction});
    return plan != plans.layers.end() && plan->second->most_packs() > 1;
  };
  if (std::holds_alternative<program::Forward>(i.operation)) return takes_several(Direction::forward);
  if (std::holds_alternative<program::InputGradient>(i.operation)) {
    return takes_several(Direction::input_gradient);
  }
  return is_linear(i);
}

// The instructions [first, last) that run for a group of packs: from the first that gains by it to the last.
struct GroupedRange {
  std::size_t first, last;
  bool holds(std::size_t i) const { return i >= first && i < last; }
};
GroupedRange grouped_range(const program::Segment& segment, device::Order order,
                           const ConvolutionPlans& plans) {
  const std::vector<program::Instruction>& list = segment.instructions;
  if (order == device::Order::layer) return {0, list.size()};
  const auto likes = [&](const program::Instruction& i) { return likes_groups(i, plans); };
  const auto first = std::find_if(list.begin(), list.end(), likes);
  const auto last = std::find_if(list.rbegin(), list.rend(), likes).base();
  if (first == list.end()) return {list.size(), list.size()};
  return {static_cast<std::size_t>(first - list.begin()), static_cast<std::size_t>(last - list.begin())};
}

}  // namespace

CpuExecutable::CpuExecutable(const program::Program& program, const device::LoadOptions& options,
                             const Kernels& kernels, ThreadTeam& team, WorkspacePool& workspaces,
                             bool shares_cores)
    : program_(program),
      options_(options),
      kernels_(kernels),
      team_(team),
      workspaces_(workspaces),
      most_packs_(arithmetic::pack_count(options.most_examples)),
      share_packs_(device::most_of_share(options)),
      active_(std::clamp(share_packs_, 1, team.size())),
      group_(options.order == device::Order::pack ? std::clamp(per_thread(share_packs_, active_), 1, kGroup)
                                                  : std::max(1, per_thread(share_packs_, active_))),
      prepares_late_(shares_cores && team.size() == 1 && options.order == device::Order::pack &&
                     share_packs_ <= group_),
      plans_(make_convolution_plans(program_, std::min(kGroup, group_), kernels, cache_sizes())),
      arena_(program_, plan_memory()) {
  program::check_program(program_);
  make_steps();
  const std::size_t bytes = arena_.workspace_bytes() + scratch_floats_ * sizeof(float);
  if (options.order == device::Order::pack) {
    workspaces_.reserve(bytes);
  } else {
    for (int thread = 0; thread < active_; ++thread) kept_workspaces_.emplace_back(bytes);
  }
}

void CpuExecutable::make_steps() {
  const StepContext context{arena_, kernels_, plans_, program_, std::min(kGroup, group_)};
  for (const program::Segment& segment : program_.segments) {
    ReadySegment& ready = segments_.emplace_back();
    ready.segment = &segment;
    const GroupedRange grouped = grouped_range(segment, options_.order, plans_);
    ready.first_grouped = grouped.first;
    ready.last_grouped = grouped.last;
    for (const program::Instruction& i : segment.instructions) {
      const bool over_packs = segment.over == program::Segment::Over::packs;
      ready.steps.push_back(over_packs ? make_pack_step(i, context) : make_element_step(i, context));
      ready.threads_left.emplace_back(0);
      scratch_floats_ = std::max(scratch_floats_, ready.steps.back()->scratch_floats());
    }
  }
}

// A buffer has room for every pack of a group, unless all its uses are on the same side of the grouped
// instructions.
std::vector<int> CpuExecutable::plan_slots() const {
  std::vector<int> slots(program_.buffers.size(), 1), side(program_.buffers.size(), 0);
  for (const program::Segment& segment : program_.segments) {
    const GroupedRange grouped = grouped_range(segment, options_.order, plans_);
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
  for (const auto& [id, weights] : plans_.weights) {
    sizes.prepared[static_cast<std::size_t>(id)] = weights->packed_floats();
  }
  for (const program::Segment& segment : program_.segments) {
    for (const program::Instruction& i : segment.instructions) {
      if (!std::holds_alternative<program::Prepare>(i.operation)) continue;
      const auto weights = plans_.weights.find(i.outputs[0]);
      if (weights == plans_.weights.end() || !weights->second->canonical()) continue;
      sizes.prepared[static_cast<std::size_t>(i.outputs[0])] = 0;
      sizes.canonical.emplace(i.outputs[0], i.inputs[0]);
    }
  }
  sizes.stack = plan_stack();
  sizes.passing_prepared = prepares_late_;
  return sizes;
}

// Deep enough for any number of packs up to the most.
int CpuExecutable::plan_stack() const {
  constexpr int kTried = 64;
  int deepest = 1;
  for (int packs = 1; packs <= std::min(most_packs_, kTried); ++packs) {
    deepest = std::max(deepest, deepest_stack(divide(packs, options_.share(packs), active_)));
  }
  if (most_packs_ <= kTried) return deepest;
  // A range of q packs has at most two complete subtrees of every size, and one more for what is being added.
  return 2 * static_cast<int>(std::bit_width(static_cast<unsigned>(per_thread(share_packs_, active_)))) + 1;
}

std::span<float> CpuExecutable::floats_of(program::BufferId buffer, std::size_t count) const {
  const program::Buffer& b = program_.buffers.at(static_cast<std::size_t>(buffer));
  lockstep::check(b.role == program::Role::parameter || b.role == program::Role::gradient ||
                      b.role == program::Role::state,
                  "{} cannot be copied", b.name);
  lockstep::check(b.elements == count, "{} has {} elements, not {}", b.name, b.elements, count);
  return {arena_.shared(buffer), count};
}

void CpuExecutable::upload(program::BufferId buffer, std::span<const float> values) {
  std::ranges::copy(values, floats_of(buffer, values.size()).begin());
}

void CpuExecutable::download(program::BufferId buffer, std::span<float> values) const {
  std::ranges::copy(floats_of(buffer, values.size()), values.begin());
}

std::span<const float> CpuExecutable::parameter(program::BufferId buffer) const {
  return floats_of(buffer, program_.buffers.at(static_cast<std::size_t>(buffer)).elements);
}

void CpuExecutable::download_activation(program::BufferId buffer, int example,
                                        std::span<float> values) const {
  lockstep::check(options_.order == device::Order::layer, "activations are kept in layer order only");
  const int pack = example / kPack, lane = example % kPack;
  for (int thread = 0; thread < active_; ++thread) {
    const arithmetic::PackRange range = division_.ranges.at(static_cast<std::size_t>(thread));
    if (pack < range.first || pack >= range.last) continue;
    // The arena only says where in the workspace; nothing is written.
    auto* const workspace = const_cast<std::byte*>(kept_workspaces_[static_cast<std::size_t>(thread)].data());
    const float* const from = arena_.activation(buffer, workspace, pack - range.first);
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

// Every thread with packs adds to every sum; without any, all sums are complete at once.
void CpuExecutable::begin_packs(ReadySegment& segment, device::Watcher& watcher) {
  const int busy = static_cast<int>(
      std::ranges::count_if(division_.ranges, [](arithmetic::PackRange r) { return r.size() > 0; }));
  for (std::atomic<int>& left : segment.threads_left) left = busy;
  if (busy > 0) return;
  for (std::size_t step = 0; step < segment.steps.size(); ++step) {
    segment.threads_left[step] = 1;
    finish_step(segment, step, watcher);
  }
}

// A thread has done the step for its last pack; the last thread to do so has completed the step's sums.
void CpuExecutable::finish_step(ReadySegment& segment, std::size_t step, device::Watcher& watcher) {
  if (--segment.threads_left[step] > 0) return;
  for (const program::BufferId output : segment.segment->instructions[step].outputs) {
    const program::Buffer& buffer = program_.buffers[static_cast<std::size_t>(output)];
    if (buffer.role != program::Role::partial) continue;
    if (!options_.alone) gather(output, 0, buffer.elements);  // else join() does it, on all threads
    watcher.complete(output);
  }
}

void CpuExecutable::run_packs(ReadySegment& segment, Work work, WorkspacePool::Lease* lease,
                              device::Watcher& watcher) {
  const int packs = static_cast<int>(work.schedule.size());
  const auto run_steps = [&](std::size_t from, std::size_t to, int first, int last) {
    work.first = first;
    work.last = last;
    for (std::size_t step = from; step < to; ++step) {
      watcher.begin(segment.segment->instructions[step]);
      segment.steps[step]->run(work);
      if (last == packs) finish_step(segment, step, watcher);
    }
  };
  for (int first = 0; first < packs; first += group_) {
    if (lease != nullptr) {
      if (first > 0) lease->give_way();
      work.workspace = lease->memory();
    }
    const int last = std::min(first + group_, packs);
    for (int pack = first; pack < last; ++pack) run_steps(0, segment.first_grouped, pack, pack + 1);
    run_steps(segment.first_grouped, segment.last_grouped, first, last);
    for (int pack = first; pack < last; ++pack) {
      run_steps(segment.last_grouped, segment.steps.size(), pack, pack + 1);
    }
  }
}

void CpuExecutable::prepare(const Work& work, device::Watcher& watcher) {
  for (const ReadySegment& segment : segments_) {
    for (std::size_t step = 0; step < segment.steps.size(); ++step) {
      const program::Instruction& instruction = segment.segment->instructions[step];
      if (!std::holds_alternative<program::Prepare>(instruction.operation)) continue;
      watcher.begin(instruction);
      segment.steps[step]->run(work);
    }
  }
}

bool CpuExecutable::run(std::size_t segment, const device::StepInput& input, device::Watcher& watcher) {
  ReadySegment& ready = segments_.at(segment);
  const int packs = arithmetic::pack_count(static_cast<int>(input.minibatch.examples.size()));
  lockstep::check(packs >= 1 && packs <= most_packs_, "a minibatch of {} packs where 1 to {} have room",
                  packs, most_packs_);
  if (division_.packs != packs) division_ = divide(packs, options_.share(packs), active_);
  const bool over_packs = ready.segment->over == program::Segment::Over::packs;
  if (over_packs) begin_packs(ready, watcher);
  std::atomic<bool> finite{true};
  on_all_threads([&](int thread, int threads) {
    Work work{.input = input, .thread = thread, .threads = threads};
    work.finite = &finite;
    if (!over_packs) {
      for (std::size_t step = 0; step < ready.steps.size(); ++step) {
        const program::Operation& operation = ready.segment->instructions[step].operation;
        if (prepares_late_ && std::holds_alternative<program::Prepare>(operation)) continue;
        watcher.begin(ready.segment->instructions[step]);
        ready.steps[step]->run(work);
      }
    } else if (thread < active_) {
      const auto t = static_cast<std::size_t>(thread);
      std::fill_n(arena_.tally(program_.tally, thread), 2 * program_.classes, 0);
      if (division_.ranges[t].size() == 0) return;
      work.first_pack = division_.ranges[t].first;
      work.schedule = division_.schedules[t];
      work.scratch_offset = arena_.workspace_bytes();
      if (options_.order == device::Order::pack) {
        WorkspacePool::Lease lease(workspaces_);
        work.workspace = lease.memory();
        if (prepares_late_) prepare(work, watcher);
        run_packs(ready, work, &lease, watcher);
      } else {
        work.workspace = kept_workspaces_[t].data();
        run_packs(ready, work, nullptr, watcher);
      }
    }
  });
  return finite;
}

void CpuExecutable::on_all_threads(const std::function<void(int thread, int threads)>& work) {
  team_.run([&](int thread) { work(thread, team_.size()); });
}

}  // namespace lockstep::cpu
