#include "run/runner.h"

#include <algorithm>

#include "base/error.h"
#include "program/looks.h"
#include "program/order.h"
#include "run/exchange_run.h"
#include "run/memory_plans.h"

namespace lockstep::run {
namespace {

std::size_t elements(const program::Program& program, program::BufferId id) {
  return program.buffers[static_cast<std::size_t>(id)].elements;
}

// Makes only what depends on the parameters alone.
bool only_prepares(const program::Segment& segment) {
  return std::ranges::all_of(segment.instructions, [](const program::Instruction& i) {
    return std::holds_alternative<program::Prepare>(i.operation) ||
           std::holds_alternative<program::RunningCoefficients>(i.operation);
  });
}

}  // namespace

Programs data_parallel(program::Program step, program::DataPlan plan) {
  Programs programs;
  programs.make = [step = std::move(step), plan](int packs) {
    return program::data_parallel(step, plan, packs);
  };
  // A smaller minibatch may give a rank one pack more than a larger one does: proportions are rounded.
  programs.most_packs = [plan = std::move(plan)](int rank, int packs) {
    int most = 0;
    for (int smaller = 1; smaller <= packs; ++smaller)
      most = std::max(most, program::shares_of(plan, smaller)[static_cast<std::size_t>(rank)].size());
    return most;
  };
  return programs;
}

program::DataPlan plan_for(const Crew& crew, program::DataPlan plan) {
  plan.ranks = crew.ranks();
  if (crew.shares_cores() && plan.smallest_bucket == program::exchange::kSmallestBucket)
    plan.smallest_bucket = kOneBucket;
  return plan;
}

// What belongs to one device of a run.
struct Runner::Worker final : device::Watcher {
  Worker(Crew& crew, const program::Program& program, int device, const device::LoadOptions& options)
      : activity(crew.activity(device)),
        executable(crew.device(device).load(program, options)),
        exchange_run({*executable, crew.transport(device), activity, clock, options.direct}) {}

  void begin(const program::Instruction& instruction) override {
    activity.instruction = &instruction;
    activity.moves.fetch_add(1, std::memory_order_relaxed);
    exchange_run.look();
  }
  void signal(program::EventId event) override { exchange_run.signal(event); }

  Activity& activity;
  const std::unique_ptr<device::Executable> executable;
  StepClock clock;
  DeviceTrace trace;
  ExchangeRun exchange_run;
  bool finite = true;
  float loss = 0;                   // the first device's
  std::vector<std::int64_t> tally;  // likewise
};

Runner::Runner(std::unique_ptr<Crew> own, Crew* crew, Programs programs, const RunnerOptions& options)
    : options_(options),
      own_crew_(std::move(own)),
      crew_(crew != nullptr ? crew : own_crew_.get()),
      make_(std::move(programs)) {
  const int most = arithmetic::pack_count(options_.most_examples);
  workers_.resize(static_cast<std::size_t>(crew_->size()));
  Set& first = sets_[most];
  first.programs = make_programs(most);
  const auto start = StepClock::Clock::now();
  std::vector<device::LoadOptions> load = load_options(*crew_, make_, options_);
  for (std::size_t d = 0; options_.parameters_of != nullptr && d < load.size(); ++d)
    load[d].parameters_of = options_.parameters_of->workers_.at(d)->executable.get();
  check_memory(*crew_, memory_plans(*crew_, first.programs, load), program().purpose);
  crew_->run([&](int device) {
    const auto d = static_cast<std::size_t>(device);
    workers_[d] = std::make_unique<Worker>(*crew_, program_of(first, device), device, load[d]);
    workers_[d]->trace.device = crew_->device(device).name();
    if (options_.trace) workers_[d]->clock.keep(&workers_[d]->trace, start);
    if (executable(device).works_in_background()) workers_[d]->clock.leave_exchange_to_device();
  });
  // What the exchanges need is there before the first step.
  if (options_.last_examples > 0) set_for(arithmetic::pack_count(options_.last_examples));
  if (program().looks < 0) return;
  examination_ = Set{program::examination_of(first.programs)};
  program::check_order(examination_->programs);
  add(*examination_);
  replicas_ = std::make_unique<Replicas>(
      program(), Replicas::Options{.ranks = crew_->ranks(),
                                   .record = options_.record,
                                   .background = std::ranges::any_of(workers_, [](const auto& worker) {
                                     return worker->executable->works_in_background();
                                   })});
}

Runner::Runner(Crew& crew, Programs programs, const RunnerOptions& options)
    : Runner(nullptr, &crew, std::move(programs), options) {}

Runner::Runner(device::Device& device, Programs programs, const RunnerOptions& options,
               const Crew::Options& crew)
    : Runner(std::make_unique<Crew>(std::vector{&device}, crew), nullptr, std::move(programs), options) {}

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
  const program::Program& program = program_of(device);
  const program::StatePart& part = program.state[tensor];
  return std::span(numbers).subspan(part.first, elements(program, part.buffer));
}

void Runner::upload(const State& state) {
  const std::vector<program::StatePart>& parts = program().state;
  check(std::ranges::equal(state, parts, {}, &NamedTensor::name,
                           [](const program::StatePart& part) { return part.tensor.name; }),
        "a state of {} tensors for a program with {}", state.size(), parts.size());
  crew_->run([&](int device) {
    for (std::size_t t = 0; t < state.size(); ++t)
      executable(device).upload(program_of(device).state[t].buffer, held_by(device, t, state[t].numbers));
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
      workers_[d]->executable->download(program_of(device).state[t].buffer,
                                        held_by(device, t, state[t].numbers));
    }
  });
  return state;
}

int Runner::holder(std::size_t tensor, std::size_t element) const {
  const auto has = [&](const program::Program& program) {
    const program::StatePart& part = program.state.at(tensor);
    return element >= part.first && element - part.first < elements(program, part.buffer);
  };
  for (int device = 0; device < crew_->size(); ++device) {
    if (has(program_of(device))) return device;
  }
  throw Error(Fault::ours, "defect: no device has element {} of tensor {}", element, tensor);
}

std::vector<program::Program> Runner::make_programs(int packs) const {
  std::vector<program::Program> programs = make_.make(packs);
  check(static_cast<int>(programs.size()) == crew_->ranks(), "{} programs for {} ranks", programs.size(),
        crew_->ranks());
  program::check_order(programs);
  return programs;
}

// Tells every device of the crew its program.
void Runner::add(Set& set) {
  std::vector<int> numbers(workers_.size());
  crew_->run([&](int device) {
    numbers[static_cast<std::size_t>(device)] = executable(device).add(program_of(set, device));
  });
  set.number = numbers[0];
}

const Runner::Set& Runner::set_for(int packs) {
  const auto [found, fresh] = sets_.try_emplace(packs);
  if (fresh) {
    found->second.programs = make_programs(packs);
    add(found->second);
  }
  return found->second;
}

StepResult Runner::step(const device::StepInput& input, Parameters parameters) {
  const int packs = arithmetic::pack_count(static_cast<int>(input.minibatch.examples.size()));
  const Set& set = set_for(packs);
  ++steps_;
  if (replicas_) replicas_->plan_step(steps_);
  crew_->run([&](int device) { run_lists(device, set, input, parameters); });
  StepResult result;
  for (const program::Program& program : set.programs)
    result.packs.push_back(program::packs_of(program).packs.size());
  result.finite = workers_[0]->finite;
  result.loss = workers_[0]->loss;
  const std::vector<std::int64_t>& tally = workers_[0]->tally;
  const auto middle = tally.begin() + static_cast<std::ptrdiff_t>(tally.size() / 2);
  result.seen.assign(tally.begin(), middle);
  result.right.assign(middle, tally.end());
  for (const auto& worker : workers_) {
    check(worker->finite == result.finite, "devices disagree about whether step {} is finite", steps_);
    result.devices.push_back(worker->clock.times());
  }
  if (!result.finite) return result;
  kept_steps_ = steps_;
  if (replicas_ && crew_->first_rank() == 0) {
    result.hashes = replicas_->recorded(looks());
    result.finding = replicas_->verdict(looks());
  }
  return result;
}

// What all ranks saw of their replicas, on the first rank.
std::vector<std::span<const std::int64_t>> Runner::looks() const {
  std::vector<std::span<const std::int64_t>> looks;
  for (const program::BufferId id : program().received_looks)
    looks.emplace_back(workers_[0]->executable->counts(id));
  return looks;
}

void Runner::continue_after(std::int64_t steps) {
  steps_ = kept_steps_ = steps;
  if (replicas_) replicas_->begin_after(steps);
}

std::optional<ReplicaFinding> Runner::examine_replicas() {
  replicas_->plan_all(kept_steps_);
  const device::StepInput nothing;
  crew_->run([&](int device) { run_lists(device, *examination_, nothing, Parameters::changed); });
  return crew_->first_rank() == 0 ? replicas_->verdict(looks()) : std::nullopt;
}

void Runner::run_lists(int device, const Set& set, const device::StepInput& input, Parameters parameters) {
  Worker& worker = *workers_[static_cast<std::size_t>(device)];
  const program::Program& program = program_of(set, device);
  const auto start = StepClock::Clock::now();
  worker.activity.step = options_.numbered ? steps_ : 0;
  worker.clock.begin(steps_);
  worker.executable->begin(set.number);
  worker.exchange_run.begin(program, input);
  for (std::size_t s = 0; s < program.segments.size(); ++s) {
    const program::Segment& segment = program.segments[s];
    if (parameters == Parameters::prepared && only_prepares(segment)) continue;
    worker.exchange_run.wait_for(segment.waits);
    const auto from = StepClock::Clock::now();
    if (segment.over == program::Segment::Over::host) {
      run_host(device, segment, program.purpose);
    } else {
      worker.executable->run(s, input, worker);
    }
    if (options_.trace && !worker.executable->works_in_background())
      worker.clock.add(TraceSpan::Lane::compute, from, segment.name);
  }
  worker.exchange_run.finish();
  // A device that works in the background is waited for here, under the watch.
  if (device == 0) {
    if (program.tally >= 0) {
      const std::span<const std::int64_t> tally = worker.executable->counts(program.tally);
      worker.tally.assign(tally.begin(), tally.end());
    }
    if (program.loss >= 0) worker.executable->download(program.loss, {&worker.loss, 1});
  }
  worker.finite = program.verdict < 0 || worker.executable->counts(program.verdict)[0] != 0;
  if (options_.trace) {
    for (const device::WorkSpan& span : worker.executable->take_spans())
      worker.clock.note(span.exchange ? TraceSpan::Lane::exchange : TraceSpan::Lane::compute, span.start,
                        span.end, span.name);
  }
  worker.activity.instruction = nullptr;
  worker.clock.end(start);
}

// The one instruction that runs here is a look at the replica.
void Runner::run_host(int device, const program::Segment& segment, program::Purpose purpose) {
  Worker& worker = *workers_[static_cast<std::size_t>(device)];
  for (const program::Instruction& instruction : segment.instructions) {
    check(std::holds_alternative<program::Look>(instruction.operation), "{} does not run on the host",
          program::operation_name(instruction.operation));
    worker.begin(instruction);
    // After a step that was not finite the replicas are those of the step before.
    if (purpose == program::Purpose::examination || worker.executable->counts(instruction.inputs[0])[0] != 0)
      replicas_->look(crew_->first_rank() + device, *worker.executable,
                      worker.executable->counts(instruction.outputs[0]));
    for (const program::EventId event : instruction.signals) worker.signal(event);
  }
}

std::vector<DeviceTrace> Runner::traces() const {
  std::vector<DeviceTrace> traces;
  traces.reserve(workers_.size());
  for (const auto& worker : workers_) traces.push_back(worker->trace);
  return traces;
}

}  // namespace lockstep::run
