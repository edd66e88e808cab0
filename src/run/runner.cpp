#include "run/runner.h"

#include <algorithm>

#include "base/error.h"
#include "plan/deal.h"
#include "program/compile.h"
#include "run/exchange_run.h"

namespace lockstep::run {
namespace {

namespace exchange = program::exchange;

std::vector<exchange::Shard> shards_of(const program::Program& program, const RunnerOptions& options,
                                       int devices) {
  const exchange::Kind& kind = options.exchange != nullptr ? *options.exchange : exchange::kinds().front();
  return kind.shards(program::sums_of(program).sums, devices);
}

std::size_t elements(const program::Program& program, program::BufferId id) {
  return program.buffers[static_cast<std::size_t>(id)].elements;
}

// All at once where nothing can overlap anyway.
std::size_t smallest_group(const Crew& crew, const RunnerOptions& options) {
  if (options.smallest_group > 0) return options.smallest_group;
  return crew.shares_cores() ? kOneGroup : exchange::kSmallestGroup;
}

bool exchanges(const program::Program& program) {
  return std::ranges::any_of(program.segments, [](const program::Segment& segment) {
    return segment.over == program::Segment::Over::exchange;
  });
}

}  // namespace

// What belongs to one device of a run.
struct Runner::Worker final : device::Watcher {
  Worker(Crew& crew, const program::Program& program, int device, const device::LoadOptions& options,
         std::size_t smallest_group)
      : activity(crew.activity(device)),
        executable(crew.device(device).load(program, options)),
        exchange_run({*executable, program, crew.transport(device), activity, clock, device, crew.size(),
                      smallest_group}) {}

  void begin(const program::Instruction& instruction) override {
    activity.instruction = &instruction;
    activity.moves.fetch_add(1, std::memory_order_relaxed);
  }
  void complete(program::BufferId partial) override { exchange_run.complete(partial); }

  Activity& activity;
  const std::unique_ptr<device::Executable> executable;
  StepClock clock;
  DeviceTrace trace;
  ExchangeRun exchange_run;
  bool finite = true;
  float loss = 0;                   // the first device's
  std::vector<std::int64_t> tally;  // of its own examples
};

Runner::Runner(std::unique_ptr<Crew> own, Crew* crew, std::vector<program::Program> programs,
               const RunnerOptions& options)
    : options_(options),
      own_crew_(std::move(own)),
      crew_(crew != nullptr ? crew : own_crew_.get()),
      programs_(std::move(programs)),
      shards_(shards_of(programs_[0], options, crew_->size())) {
  check(static_cast<int>(programs_.size()) == crew_->size(), "{} programs for {} devices", programs_.size(),
        crew_->size());
  workers_.resize(programs_.size());
  // What the exchanges need is planned with the rest, and there before the first step.
  for (const int examples : {options_.most_examples, options_.last_examples}) {
    if (exchanges(program()) && examples > 0)
      lists_.try_emplace(arithmetic::pack_count(examples), make_lists(arithmetic::pack_count(examples)));
  }
  const auto start = StepClock::Clock::now();
  crew_->run([&](int device) {
    const auto d = static_cast<std::size_t>(device);
    const auto share = [this, d](int packs) { return shares_of(packs)[d]; };
    workers_[d] = std::make_unique<Worker>(*crew_, programs_[d], device,
                                           device::LoadOptions{.most_examples = options_.most_examples,
                                                               .order = options_.order,
                                                               .alone = crew_->size() == 1,
                                                               .trace = options_.trace,
                                                               .direct = crew_->direct(),
                                                               .inbox_floats = most_inbox_floats(device),
                                                               .of_free_memory = options_.of_free_memory,
                                                               .share = share},
                                           smallest_group(*crew_, options_));
    for (const auto& [packs, lists] : lists_) executable(device).expect(lists[d]);
    workers_[d]->trace.device = crew_->device(device).name();
    if (options_.trace) workers_[d]->clock.keep(&workers_[d]->trace, start);
    if (executable(device).works_in_background()) workers_[d]->clock.leave_exchange_to_device();
  });
  // Only a program that trains changes its parameters.
  replicas_ = std::make_unique<Replicas>(
      program(), Replicas::Options{.devices = crew_->size(),
                                   .examine = exchanges(program()) && !program().gradients.empty(),
                                   .record = options_.record,
                                   .background = std::ranges::any_of(workers_, [](const auto& worker) {
                                     return worker->executable->works_in_background();
                                   })});
}

Runner::Runner(Crew& crew, std::vector<program::Program> programs, const RunnerOptions& options)
    : Runner(nullptr, &crew, std::move(programs), options) {}

Runner::Runner(Crew& crew, const program::Program& program, const RunnerOptions& options)
    : Runner(nullptr, &crew, std::vector(static_cast<std::size_t>(crew.size()), program), options) {}

Runner::Runner(device::Device& device, const program::Program& program, const RunnerOptions& options,
               const Crew::Options& crew)
    : Runner(std::make_unique<Crew>(std::vector{&device}, crew), nullptr, {program}, options) {}

Runner::~Runner() = default;

device::Executable& Runner::executable(int device) {
  return *workers_.at(static_cast<std::size_t>(device))->executable;
}

void Runner::upload(const Weights& weights) {
  check(weights.size() == program().parameters.size(), "{} tensors for {} parameters", weights.size(),
        program().parameters.size());
  crew_->run([&](int device) {
    for (std::size_t i = 0; i < weights.size(); ++i)
      executable(device).upload(program().parameters[i], weights[i]);
  });
}

Weights Runner::download(int device) const {
  Weights weights;
  for (const program::BufferId id : program().parameters) weights.emplace_back(elements(program(), id));
  crew_->run([&](int d) {
    if (d != device) return;
    for (std::size_t i = 0; i < weights.size(); ++i)
      workers_[static_cast<std::size_t>(d)]->executable->download(program().parameters[i], weights[i]);
  });
  return weights;
}

template <class Numbers>
auto Runner::held_by(int device, std::size_t tensor, Numbers& numbers) const {
  const program::Program& program = programs_[static_cast<std::size_t>(device)];
  const program::StatePart& part = program.state[tensor];
  return std::span(numbers).subspan(part.first, elements(program, part.buffer));
}

void Runner::upload(const State& state) {
  const std::vector<program::StatePart>& parts = program().state;
  check(std::ranges::equal(state, parts, {}, &NamedTensor::name,
                           [](const program::StatePart& part) { return part.tensor.name; }),
        "a state of {} tensors for a program with {}", state.size(), parts.size());
  crew_->run([&](int device) {
    const auto d = static_cast<std::size_t>(device);
    for (std::size_t t = 0; t < state.size(); ++t)
      executable(device).upload(programs_[d].state[t].buffer, held_by(device, t, state[t].numbers));
  });
}

State Runner::state() const {
  State state;
  for (const program::StatePart& part : program().state)
    state.push_back({part.tensor.name, std::vector<float>(part.tensor.elements())});
  crew_->run([&](int device) {
    const auto d = static_cast<std::size_t>(device);
    for (std::size_t t = 0; t < state.size(); ++t) {
      const program::StatePart& first = program().state[t];
      const bool first_has_all = elements(program(), first.buffer) == first.tensor.elements();
      if (device > 0 && first_has_all) continue;
      workers_[d]->executable->download(programs_[d].state[t].buffer, held_by(device, t, state[t].numbers));
    }
  });
  return state;
}

int Runner::holder(std::size_t tensor, std::size_t element) const {
  const auto has = [&](const program::Program& program) {
    const program::StatePart& part = program.state.at(tensor);
    return element >= part.first && element - part.first < elements(program, part.buffer);
  };
  const auto found = std::ranges::find_if(programs_, has);
  check(found != programs_.end(), "no device has element {} of tensor {}", element, tensor);
  return static_cast<int>(found - programs_.begin());
}

std::vector<arithmetic::PackRange> Runner::shares_of(int packs) const {
  return plan::deal_packs({0, packs}, crew_->size(), options_.shares);
}

std::vector<exchange::List> Runner::make_lists(int packs) const {
  exchange::Setting setting = program::sums_of(program());
  setting.packs = packs;
  setting.shares = shares_of(packs);
  setting.shard_optimizer = options_.shard_optimizer;
  setting.smallest_group = smallest_group(*crew_, options_);
  return options_.emit(setting, shards_);
}

std::size_t Runner::most_inbox_floats(int device) const {
  std::size_t most = 0;
  for (const auto& [packs, lists] : lists_)
    most = std::max(most, exchange::inbox_floats(lists[static_cast<std::size_t>(device)]));
  return most;
}

const std::vector<exchange::List>& Runner::lists_for(int packs) {
  const auto [found, fresh] = lists_.try_emplace(packs);
  if (fresh) {
    found->second = make_lists(packs);
    crew_->run(
        [&](int device) { executable(device).expect(found->second[static_cast<std::size_t>(device)]); });
  }
  return found->second;
}

StepResult Runner::step(const device::StepInput& input) {
  const int packs = arithmetic::pack_count(static_cast<int>(input.minibatch.examples.size()));
  const std::vector<exchange::List>& lists = lists_for(packs);
  ++steps_;
  replicas_->plan_step(steps_);
  crew_->run([&](int device) { run_step(device, input, lists[static_cast<std::size_t>(device)]); });
  StepResult result;
  for (const arithmetic::PackRange& share : shares_of(packs)) result.packs.push_back(share.size());
  result.finite = workers_[0]->finite;
  result.loss = workers_[0]->loss;
  result.seen.assign(static_cast<std::size_t>(program().classes), 0);
  result.right = result.seen;
  for (const auto& worker : workers_) {
    check(worker->finite == result.finite, "devices disagree about whether step {} is finite", steps_);
    for (std::size_t c = 0; c < result.seen.size(); ++c) {
      result.seen[c] += worker->tally[c];
      result.right[c] += worker->tally[result.seen.size() + c];
    }
    result.devices.push_back(worker->clock.times());
  }
  result.hashes = replicas_->recorded();
  if (!result.finite) return result;
  kept_steps_ = steps_;
  result.finding = replicas_->verdict();
  return result;
}

void Runner::continue_after(std::int64_t steps) {
  steps_ = kept_steps_ = steps;
  replicas_->begin_after(steps);
}

std::optional<ReplicaFinding> Runner::examine_replicas() {
  replicas_->plan_all(kept_steps_);
  crew_->run([&](int device) { replicas_->look(device, executable(device)); });
  return replicas_->verdict();
}

void Runner::run_step(int device, const device::StepInput& input, const exchange::List& list) {
  Worker& worker = *workers_[static_cast<std::size_t>(device)];
  const std::vector<program::Segment>& segments = program().segments;
  const auto start = StepClock::Clock::now();
  worker.activity.step = options_.numbered ? steps_ : 0;
  worker.clock.begin(steps_);
  worker.exchange_run.begin(list, input);
  worker.finite = true;
  for (std::size_t segment = 0; segment < segments.size() && worker.finite; ++segment) {
    const auto from = StepClock::Clock::now();
    if (segments[segment].over == program::Segment::Over::exchange) {
      worker.finite = worker.exchange_run.finish();
      continue;
    }
    worker.finite = worker.executable->run(segment, input, worker);
    if (options_.trace && !worker.executable->works_in_background())
      worker.clock.add(TraceSpan::Lane::compute, from, segments[segment].name);
  }
  // A device that works in the background is waited for here, under the watch.
  worker.tally = worker.executable->tally();
  if (device == 0) worker.executable->download(program().loss, {&worker.loss, 1});
  if (options_.trace) {
    for (const device::WorkSpan& span : worker.executable->take_spans())
      worker.clock.note(span.exchange ? TraceSpan::Lane::exchange : TraceSpan::Lane::compute, span.start,
                        span.end, span.name);
  }
  if (worker.finite) replicas_->look(device, *worker.executable);
  worker.activity.instruction = nullptr;
  worker.clock.end(start);
}

std::vector<DeviceTrace> Runner::traces() const {
  std::vector<DeviceTrace> traces;
  traces.reserve(workers_.size());
  for (const auto& worker : workers_) traces.push_back(worker->trace);
  return traces;
}

}  // namespace lockstep::run
