#include "run/exchange_run.h"

#include <algorithm>

#include "base/error.h"
#include "program/compile.h"
#include "program/print.h"

namespace lockstep::run {
namespace {

namespace exchange = program::exchange;
using Clock = StepClock::Clock;

// A wait ends by arrival or by an abort; this is only how often it looks around.
constexpr std::chrono::seconds kLook{1};

template <class Operation>
std::vector<Operation> run_of(const exchange::List& list, std::size_t from) {
  std::vector<Operation> operations;
  for (std::size_t i = from; i < list.size(); ++i) {
    const auto* const operation = std::get_if<Operation>(&list[i].operation);
    if (operation == nullptr) break;
    operations.push_back(*operation);
  }
  return operations;
}

}  // namespace

ExchangeRun::ExchangeRun(const Options& options)
    : options_(options),
      groups_(exchange::group_sums(program::sums_of(options.program).sums, options.smallest_group)),
      verdicts_(static_cast<std::size_t>(options.devices), 1.0f),
      complete_(options.program.sums.size()) {}

void ExchangeRun::begin(const exchange::List& list, const device::StepInput& input) {
  drain();
  list_ = &list;
  options_.activity.program = &options_.program;
  input_ = &input;
  next_ = 0;
  good_ = true;
  error_ = nullptr;
  tickets_.assign(list.size(), 0);
  for (std::atomic<bool>& complete : complete_) complete = false;
}

void ExchangeRun::drain() {
  for (const transport::Ticket ticket : sends_) wait_for(ticket);
  sends_.clear();
}

void ExchangeRun::complete(program::BufferId partial) {
  const auto sum = std::ranges::find(options_.program.sums, partial, &program::Sum::partial);
  complete_[static_cast<std::size_t>(sum - options_.program.sums.begin())] = true;
  const Lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return;
  const Clock::time_point start = Clock::now();
  const std::size_t before = next_;
  try {
    if (!error_) advance(false);
  } catch (...) {
    error_ = std::current_exception();
  }
  options_.activity.exchanging = nullptr;
  if (next_ != before) options_.clock.add(TraceSpan::Lane::exchange, start, "exchange");
}

bool ExchangeRun::finish() {
  const Lock lock(mutex_);
  if (error_) std::rethrow_exception(error_);
  advance(true);
  for (std::size_t i = 0; i < list_->size() && good_; ++i) arrived(i, true);
  options_.activity.exchanging = nullptr;
  return good_;
}

bool ExchangeRun::group_complete(int group) const {
  if (group < 0) return true;
  const exchange::Group g = groups_[static_cast<std::size_t>(group)];
  return std::all_of(complete_.begin() + g.first, complete_.begin() + g.last,
                     [](const std::atomic<bool>& complete) { return complete.load(); });
}

// Without waiting, everything that needs all of the device's threads is left to finish(), too.
void ExchangeRun::advance(bool may_wait) {
  while (next_ < list_->size() && good_) {
    const exchange::Instruction& instruction = (*list_)[next_];
    if (!group_complete(instruction.group)) return;
    ++options_.activity.moves;
    options_.activity.exchanging = &instruction;
    const bool message = std::holds_alternative<exchange::Send>(instruction.operation) ||
                         std::holds_alternative<exchange::Receive>(instruction.operation);
    if (message) {
      const Clock::time_point start = Clock::now();
      post();
      if (may_wait) options_.clock.add(TraceSpan::Lane::exchange, start, "post messages");
      continue;
    }
    const bool alone = std::holds_alternative<exchange::Join>(instruction.operation) &&
                       options_.executable.joins_beside_work();
    if (!may_wait && !alone) return;
    if (instruction.after >= 0 && !arrived(static_cast<std::size_t>(instruction.after), may_wait)) return;
    const Clock::time_point start = Clock::now();
    perform();
    if (may_wait)
      options_.clock.add(TraceSpan::Lane::exchange, start, program::to_text(instruction, options_.program));
  }
}

// Starts all messages up to the first one that is not ready.
void ExchangeRun::post() {
  std::vector<transport::Op> sends, receives;
  std::vector<exchange::Place> sent;
  const std::size_t first = next_;
  for (; next_ < list_->size(); ++next_) {
    const exchange::Instruction& instruction = (*list_)[next_];
    if (!group_complete(instruction.group)) break;
    if (const auto* send = std::get_if<exchange::Send>(&instruction.operation)) {
      sends.push_back(transport::send(send->to, numbers(send->place)));
      if (send->place.of != exchange::Place::Of::verdict) sent.push_back(send->place);
    } else if (const auto* receive = std::get_if<exchange::Receive>(&instruction.operation)) {
      receives.push_back(transport::receive(receive->from, numbers(receive->place)));
    } else {
      break;
    }
  }
  const Clock::time_point before = Clock::now();
  options_.executable.publish(sent);
  // A device that works in the background may still be computing what it holds.
  if (std::ranges::find(sent, exchange::Place::Of::held, &exchange::Place::of) != sent.end())
    options_.clock.was_computing(before);
  if (!sends.empty()) sends_.push_back(options_.transport.start(sends));
  if (receives.empty()) return;
  const transport::Ticket ticket = options_.transport.start(receives);
  for (std::size_t i = first; i < next_; ++i) {
    if (std::holds_alternative<exchange::Receive>((*list_)[i].operation)) tickets_[i] = ticket;
  }
}

// Has what was posted with this receive arrived?
bool ExchangeRun::arrived(std::size_t instruction, bool may_wait) {
  const transport::Ticket ticket = tickets_[instruction];
  if (ticket == 0) return true;
  if (may_wait) {
    wait_for(ticket);
  } else if (!options_.transport.wait(ticket, std::chrono::nanoseconds(0))) {
    return false;
  }
  std::vector<exchange::Place> received;
  for (std::size_t i = 0; i < tickets_.size(); ++i) {
    if (tickets_[i] != ticket) continue;
    tickets_[i] = 0;
    const exchange::Place& place = std::get<exchange::Receive>((*list_)[i].operation).place;
    if (place.of != exchange::Place::Of::verdict) received.push_back(place);
  }
  options_.executable.deliver(received);
  return true;
}

void ExchangeRun::wait_for(transport::Ticket ticket) {
  const Clock::time_point start = Clock::now();
  if (options_.transport.wait(ticket, std::chrono::nanoseconds(0))) {
    options_.clock.add(TraceSpan::Lane::exchange, start, "copy");
    return;
  }
  options_.activity.waiting = true;
  while (!options_.transport.wait(ticket, kLook)) {
  }
  options_.activity.waiting = false;
  ++options_.activity.moves;
  options_.clock.add(TraceSpan::Lane::wait, start, "wait for other devices");
}

// Everything but messages; neighbours of a kind at once.
void ExchangeRun::perform() {
  const exchange::Instruction& instruction = (*list_)[next_];
  if (std::holds_alternative<exchange::Join>(instruction.operation)) {
    std::vector<exchange::Join> joins = run_of<exchange::Join>(*list_, next_);
    // Those of one group are posted together and so are ready together.
    while ((*list_)[next_ + joins.size() - 1].group != instruction.group) joins.pop_back();
    for (std::size_t i = 0; i < joins.size(); ++i) {
      const int after = (*list_)[next_ + i].after;
      if (after >= 0 && tickets_[static_cast<std::size_t>(after)] != 0) joins.resize(i);
    }
    options_.executable.join(joins, *input_);
    next_ += joins.size();
  } else if (const auto* check = std::get_if<exchange::Check>(&instruction.operation)) {
    verdicts_[static_cast<std::size_t>(options_.device)] =
        options_.executable.check(check->ranges) ? 1.0f : 0.0f;
    ++next_;
  } else if (std::holds_alternative<exchange::Agree>(instruction.operation)) {
    good_ = std::ranges::all_of(verdicts_, [](float verdict) { return verdict == 1.0f; });
    ++next_;
  } else {
    const std::vector<exchange::Update> updates = run_of<exchange::Update>(*list_, next_);
    options_.executable.update(updates, *input_);
    next_ += updates.size();
  }
}

std::span<float> ExchangeRun::numbers(const exchange::Place& place) {
  if (place.of == exchange::Place::Of::verdict) return {&verdicts_[place.slot], 1};
  return options_.executable.numbers(place);
}

}  // namespace lockstep::run
