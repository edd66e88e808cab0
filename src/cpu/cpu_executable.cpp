#include "cpu/cpu_executable.h"

#include <algorithm>
#include <bit>

#include "base/divide.h"
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

// The instructions that run for a group of packs: from the first that gains by it to the last.
program::InstructionRange grouped_range(const program::Segment& segment, device::Order order,
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
                             const Sharing& sharing)
    : options_(options),
      kernels_(kernels),
      team_(team),
      workspaces_(workspaces),
      active_(std::clamp(options.most_packs, 1, team.size())),
      group_(options.order == device::Order::pack
                 ? std::clamp(per_thread(options.most_packs, active_), 1, kGroup)
                 : std::max(1, per_thread(options.most_packs, active_))),
      prepares_late_(sharing.cores && team.size() == 1 && options.order == device::Order::pack &&
                     options.most_packs <= group_),
      own_workspaces_(options.order == device::Order::pack ? sharing.workspaces : active_),
      current_(&programs_.emplace_back(program)),
      plans_(make_convolution_plans(program, std::min(kGroup, group_), kernels, cache_sizes())) {
  const int stack = make_steps(programs_.front());
  memory_plan_ = plan_memory(stack);
}

void CpuExecutable::allocate() {
  arena_.allocate(first_program(), memory_plan_, links());
  if (options_.order == device::Order::pack) {
    workspaces_.reserve(memory_plan_.workspace_bytes);
  } else {
    for (int thread = 0; thread < active_; ++thread)
      kept_workspaces_.emplace_back(memory_plan_.workspace_bytes);
  }
}

int CpuExecutable::add(const program::Program& program) {
  const std::vector<program::Buffer>& buffers = first_program().buffers;
  lockstep::check(
      std::ranges::equal(program.buffers, buffers, {}, &program::Buffer::role, &program::Buffer::role),
      "a program of {} buffers in a memory of {}", program.buffers.size(), buffers.size());
  const std::size_t scratch = scratch_floats_;
  const int stack = make_steps(programs_.emplace_back(program));
  lockstep::check(scratch_floats_ == scratch, "a further program needs more scratch than the first");
  arena_.enlarge(program, stack);
  return static_cast<int>(programs_.size()) - 1;
}

// Returns how deep the stacks of partial sums get.
int CpuExecutable::make_steps(ReadyProgram& ready) {
  program::check_program(ready.program);
  int stack = 1;
  const StepContext context{arena_, kernels_, plans_, ready.program, std::min(kGroup, group_)};
  ready.divisions.assign(ready.program.buffers.size(), nullptr);
  for (const program::Segment& segment : ready.program.segments) {
    ReadySegment& steps = ready.segments.emplace_back();
    steps.segment = &segment;
    if (segment.over == program::Segment::Over::host) continue;
    const program::InstructionRange grouped = grouped_range(segment, options_.order, plans_);
    steps.first_grouped = grouped.first;
    steps.last_grouped = grouped.last;
    const bool over_packs = segment.over == program::Segment::Over::packs;
    if (over_packs) {
      lockstep::check(segment.packs.size() <= std::max(1, options_.most_packs), "{} packs where {} have room",
                      segment.packs.size(), options_.most_packs);
      steps.division = divide(ready.program.packs, segment.packs, active_);
      stack = std::max(stack, deepest_stack(steps.division));
    }
    for (const program::Instruction& i : segment.instructions) {
      steps.steps.push_back(over_packs ? make_pack_step(i, context) : make_element_step(i, context));
      steps.threads_left.emplace_back(0);
      scratch_floats_ = std::max(scratch_floats_, steps.steps.back()->scratch_floats());
      for (const program::BufferId output : i.outputs)
        if (over_packs) ready.divisions[static_cast<std::size_t>(output)] = &steps.division;
    }
    // Partial sums that no instruction makes are put there by the caller, one for each subtree of the packs.
    for (const Division*& division : ready.divisions)
      if (over_packs && division == nullptr) division = &steps.division;
  }
  return stack;
}

program::MemoryPlan CpuExecutable::plan_memory(int stack) const {
  constexpr std::size_t kLine = 64;  // bytes of a cache line: threads do not share one
  const program::Program& program = first_program();
  program::Nest nest{.most_packs = std::max(1, options_.most_packs),
                     .threads = active_,
                     .workspaces = own_workspaces_,
                     .group = group_,
                     .keeps_activations = options_.order == device::Order::layer,
                     .stack = stack,
                     .counts_copies = 1 + active_,
                     .line = kLine,
                     .prepares_in_workspace = prepares_late_,
                     .scratch = round_up(scratch_floats_ * sizeof(float), kLine)};
  for (const program::Segment& segment : program.segments)
    nest.grouped.push_back(grouped_range(segment, options_.order, plans_));
  nest.prepared.assign(program.buffers.size(), 0);
  for (const auto& [id, weights] : plans_.weights)
    nest.prepared[static_cast<std::size_t>(id)] = weights->prepared_floats() * sizeof(float);
  for (const auto& [prepared, parameter] : links().canonical)
    nest.prepared[static_cast<std::size_t>(prepared)] = 0;
  nest.borrowed.assign(program.buffers.size(), false);
  if (options_.parameters_of != nullptr) {
    for (const program::BufferId id : program.parameters) nest.borrowed[static_cast<std::size_t>(id)] = true;
  }
  return program::plan_memory(program, nest);
}

ArenaLinks CpuExecutable::links() const {
  const program::Program& program = first_program();
  ArenaLinks links;
  for (const program::Segment& segment : program.segments) {
    for (const program::Instruction& i : segment.instructions) {
      if (!std::holds_alternative<program::Prepare>(i.operation)) continue;
      const auto weights = plans_.weights.find(i.outputs[0]);
      if (weights != plans_.weights.end() && weights->second->canonical())
        links.canonical.emplace(i.outputs[0], i.inputs[0]);
    }
  }
  if (options_.parameters_of == nullptr) return links;
  const auto& lender = dynamic_cast<const CpuExecutable&>(options_.parameters_of->itself());
  for (std::size_t i = 0; i < program.parameters.size(); ++i)
    links.borrowed.emplace(program.parameters[i],
                           lender.arena_.shared(lender.first_program().parameters.at(i)));
  return links;
}

std::size_t CpuExecutable::allocated() const {
  const std::size_t workspace =
      options_.order == device::Order::pack ? workspaces_.bytes() : kept_workspaces_.front().size();
  return arena_.allocated() + static_cast<std::size_t>(own_workspaces_) * workspace;
}

std::span<float> CpuExecutable::floats_of(program::BufferId buffer, std::size_t count) const {
  const program::Buffer& b = first_program().buffers.at(static_cast<std::size_t>(buffer));
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
  return floats_of(buffer, first_program().buffers.at(static_cast<std::size_t>(buffer)).elements);
}

void CpuExecutable::download_activation(program::BufferId buffer, int example,
                                        std::span<float> values) const {
  lockstep::check(options_.order == device::Order::layer, "activations are kept in layer order only");
  const int pack = example / kPack, lane = example % kPack;
  const Division& division = division_of(buffer);
  for (int thread = 0; thread < active_; ++thread) {
    const arithmetic::PackRange range = division.ranges.at(static_cast<std::size_t>(thread));
    if (pack < range.first || pack >= range.last) continue;
    // The arena only says where in the workspace; nothing is written.
    auto* const workspace = const_cast<std::byte*>(kept_workspaces_[static_cast<std::size_t>(thread)].data());
    const float* const from =
        arena_.kept(buffer)
            ? reinterpret_cast<const float*>(arena_.kept_pack(buffer, pack - division.share.first))
            : arena_.activation(buffer, workspace, pack - range.first);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = from[i * kPack + static_cast<std::size_t>(lane)];
  }
}

std::span<std::int64_t> CpuExecutable::counts(program::BufferId buffer) {
  return {arena_.counts(buffer), first_program().buffers.at(static_cast<std::size_t>(buffer)).elements};
}

// Every thread with packs adds to every sum; without any, all sums are complete at once.
void CpuExecutable::begin_packs(ReadySegment& segment, device::Watcher& watcher) {
  const int busy = static_cast<int>(
      std::ranges::count_if(segment.division.ranges, [](arithmetic::PackRange r) { return r.size() > 0; }));
  for (const program::Instruction& i : segment.segment->instructions) {
    if (!std::holds_alternative<program::Loss>(i.operation)) continue;
    for (int thread = 0; thread < active_; ++thread)
      std::ranges::fill_n(arena_.thread_counts(i.outputs[2], thread),
                          static_cast<std::ptrdiff_t>(counts(i.outputs[2]).size()), 0);
  }
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
  const program::Instruction& instruction = segment.segment->instructions[step];
  for (const program::BufferId output : instruction.outputs) {
    const program::Buffer& buffer = current_->program.buffers[static_cast<std::size_t>(output)];
    // A device that is alone adds the threads' sums when it joins, on all threads.
    if (buffer.role == program::Role::partial && !options_.alone)
      add_threads_sums(output, 0, buffer.elements);
    if (buffer.role == program::Role::counts) add_threads_counts(output);
  }
  for (const program::EventId event : instruction.signals) watcher.signal(event);
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

// Prepares what the segment reads.
void CpuExecutable::prepare(const ReadySegment& segment, const Work& work, device::Watcher& watcher) {
  const auto reads = [&](program::BufferId id) {
    return std::ranges::any_of(segment.segment->instructions, [&](const program::Instruction& i) {
      return std::ranges::find(i.inputs, id) != i.inputs.end();
    });
  };
  for (const ReadySegment& maker : current_->segments) {
    for (std::size_t step = 0; step < maker.steps.size(); ++step) {
      const program::Instruction& instruction = maker.segment->instructions[step];
      if (!std::holds_alternative<program::Prepare>(instruction.operation) || !reads(instruction.outputs[0]))
        continue;
      watcher.begin(instruction);
      maker.steps[step]->run(work);
    }
  }
}

void CpuExecutable::run(std::size_t segment, const device::StepInput& input, device::Watcher& watcher) {
  ReadySegment& ready = current_->segments.at(segment);
  if (ready.segment->over != program::Segment::Over::packs) return run_elements(ready, input, watcher);
  const int packs = arithmetic::pack_count(static_cast<int>(input.minibatch.examples.size()));
  lockstep::check(packs == current_->program.packs, "a minibatch of {} packs for a program of {}", packs,
                  current_->program.packs);
  begin_packs(ready, watcher);
  on_all_threads([&](int thread, int) {
    if (thread < active_ && ready.division.ranges[static_cast<std::size_t>(thread)].size() > 0)
      run_share(ready, input, thread, watcher);
  });
}

// The packs of one thread.
void CpuExecutable::run_share(ReadySegment& segment, const device::StepInput& input, int thread,
                              device::Watcher& watcher) {
  const auto t = static_cast<std::size_t>(thread);
  Work work{.input = input, .thread = thread, .threads = team_.size()};
  work.first_pack = segment.division.ranges[t].first;
  work.first_kept = work.first_pack - segment.division.share.first;
  work.schedule = segment.division.schedules[t];
  work.scratch_offset = memory_plan_.places_bytes;
  if (options_.order == device::Order::layer) {
    work.workspace = kept_workspaces_[t].data();
    return run_packs(segment, work, nullptr, watcher);
  }
  WorkspacePool::Lease lease(workspaces_);
  work.workspace = lease.memory();
  if (prepares_late_) prepare(segment, work, watcher);
  run_packs(segment, work, &lease, watcher);
}

void CpuExecutable::run_elements(ReadySegment& segment, const device::StepInput& input,
                                 device::Watcher& watcher) {
  const std::vector<program::Instruction>& instructions = segment.segment->instructions;
  std::atomic<bool> finite{true};
  on_all_threads([&](int thread, int threads) {
    Work work{.input = input, .thread = thread, .threads = threads};
    work.finite = &finite;
    for (std::size_t step = 0; step < segment.steps.size(); ++step) {
      if (prepares_late_ && std::holds_alternative<program::Prepare>(instructions[step].operation)) continue;
      watcher.begin(instructions[step]);
      segment.steps[step]->run(work);
    }
  });
  for (const program::Instruction& i : instructions) {
    if (std::holds_alternative<program::Check>(i.operation)) *arena_.counts(i.outputs[0]) = finite ? 1 : 0;
    for (const program::EventId event : i.signals) watcher.signal(event);
  }
}

void CpuExecutable::on_all_threads(const std::function<void(int thread, int threads)>& work) {
  team_.run([&](int thread) { work(thread, team_.size()); });
}

}  // namespace lockstep::cpu
