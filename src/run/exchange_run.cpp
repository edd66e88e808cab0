#include "run/exchange_run.h"

#include <algorithm>

#include "base/error.h"
#include "program/print.h"

namespace lockstep::run {
namespace {

using program::EventId;
using program::ExchangeInstruction;
using Clock = StepClock::Clock;

// A wait ends by arrival or by an abort; this is only how often it looks around.
constexpr std::chrono::seconds kLook{1};

bool is_message(const ExchangeInstruction& instruction) {
  return !std::holds_alternative<program::Join>(instruction.operation);
}

bool signals_any(const ExchangeInstruction& instruction, std::span<const EventId> events) {
  return std::ranges::find_first_of(instruction.signals, events) != instruction.signals.end();
}

}  // namespace

void ExchangeRun::begin(const program::Program& program, const device::StepInput& input) {
  drain();
  program_ = &program;
  options_.activity.program = &program;
  input_ = &input;
  next_ = 0;
  error_ = nullptr;
  while (events_.size() < static_cast<std::size_t>(program.events)) events_.emplace_back(false);
  for (std::atomic<bool>& event : events_) event = false;
}

void ExchangeRun::drain() {
  for (const Posted& posted : posted_) wait_for_ticket(posted.ticket);
  posted_.clear();
}

void ExchangeRun::signal(EventId event) {
  events_[static_cast<std::size_t>(event)] = true;
  const Lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return;
  const Clock::time_point start = Clock::now();
  const std::size_t before = next_;
  try {
    if (!error_) advance(MayWait::no, {});
  } catch (...) {
    error_ = std::current_exception();
  }
  options_.activity.exchanging = nullptr;
  if (next_ != before) options_.clock.add(TraceSpan::Lane::exchange, start, "exchange");
}

void ExchangeRun::wait_for(std::span<const EventId> events) {
  const Lock lock(mutex_);
  if (error_) std::rethrow_exception(error_);
  if (!all_happened(events)) {
    advance(MayWait::yes, events);
    check(make_happen(events, MayWait::yes), "a segment waits for an event that nothing before it signals");
  }
  options_.activity.exchanging = nullptr;
}

void ExchangeRun::finish() {
  const Lock lock(mutex_);
  if (error_) std::rethrow_exception(error_);
  advance(MayWait::yes, {});
  check(next_ == program_->exchange.size(), "an exchange waits for an event that no work signals");
  // What was sent may still be read when the next step begins.
  const auto receives = [&](const Posted& posted) {
    return std::holds_alternative<program::Receive>(
        program_->exchange[posted.instructions.front()].operation);
  };
  for (auto posted = std::ranges::find_if(posted_, receives); posted != posted_.end();
       posted = std::ranges::find_if(posted_, receives)) {
    Posted done = std::move(*posted);
    posted_.erase(posted);
    wait_for_ticket(done.ticket);
    finish_messages(std::move(done));
  }
  options_.activity.exchanging = nullptr;
}

bool ExchangeRun::all_happened(std::span<const EventId> events) const {
  return std::ranges::all_of(events, [this](EventId event) { return happened(event); });
}

// Events of the work happen by themselves; those of messages are looked for here.
bool ExchangeRun::make_happen(std::span<const EventId> events, MayWait may_wait) {
  if (all_happened(events)) return true;
  look_for_arrivals();
  while (may_wait == MayWait::yes && !all_happened(events)) {
    const auto wanted = std::ranges::find_if(posted_, [&](const Posted& posted) {
      return std::ranges::any_of(posted.instructions, [&](std::size_t i) {
        const ExchangeInstruction& instruction = program_->exchange[i];
        return signals_any(instruction, events) && !all_happened(instruction.signals);
      });
    });
    if (wanted == posted_.end()) return false;
    Posted done = std::move(*wanted);
    posted_.erase(wanted);
    wait_for_ticket(done.ticket);
    finish_messages(std::move(done));
  }
  return all_happened(events);
}

// Without waiting, everything that needs all of the device's threads is left for later, too.
void ExchangeRun::advance(MayWait may_wait, std::span<const EventId> until) {
  const std::vector<ExchangeInstruction>& list = program_->exchange;
  while (next_ < list.size()) {
    if (!until.empty() && all_happened(until)) return;
    const ExchangeInstruction& instruction = list[next_];
    const bool message = is_message(instruction);
    if (!message && may_wait == MayWait::no && !options_.executable.joins_beside_work()) return;
    if (!all_happened(instruction.waits)) {
      options_.activity.exchanging = &instruction;
      if (!make_happen(instruction.waits, may_wait)) return;
    }
    ++options_.activity.moves;
    options_.activity.exchanging = &instruction;
    const Clock::time_point start = Clock::now();
    message ? post() : join();
    if (may_wait == MayWait::yes)
      options_.clock.add(TraceSpan::Lane::exchange, start,
                         message ? "post messages" : program::to_text(instruction, *program_));
  }
}

device::Transfer ExchangeRun::transfer_of(std::size_t instruction) const {
  const ExchangeInstruction& i = program_->exchange[instruction];
  const auto* const send = std::get_if<program::Send>(&i.operation);
  const program::Region& region =
      send != nullptr ? send->region : std::get<program::Receive>(i.operation).region;
  const auto peer =
      static_cast<std::size_t>(send != nullptr ? send->to : std::get<program::Receive>(i.operation).from);
  const bool on_host =
      program_->buffers[static_cast<std::size_t>(region.buffer)].role == program::Role::counts;
  return {region, !on_host && peer < options_.direct.size() && options_.direct[peer]};
}

// Starts all messages up to the first one that is not ready.
void ExchangeRun::post() {
  std::vector<transport::Op> sends, receives;
  std::vector<std::size_t> sent, received;
  std::vector<device::Transfer> published;
  bool sums = false;
  for (; next_ < program_->exchange.size(); ++next_) {
    const ExchangeInstruction& instruction = program_->exchange[next_];
    if (!is_message(instruction) || !all_happened(instruction.waits)) break;
    const device::Transfer transfer = transfer_of(next_);
    const std::span<std::byte> bytes = options_.executable.bytes(transfer);
    if (const auto* send = std::get_if<program::Send>(&instruction.operation)) {
      sends.push_back(transport::send(send->to, bytes, transfer.direct));
      sent.push_back(next_);
      published.push_back(transfer);
      const program::Role role = program_->buffers[static_cast<std::size_t>(transfer.region.buffer)].role;
      sums = sums || role == program::Role::partial || role == program::Role::statistics;
    } else {
      const auto& receive = std::get<program::Receive>(instruction.operation);
      receives.push_back(transport::receive(receive.from, bytes, transfer.direct));
      received.push_back(next_);
    }
  }
  const Clock::time_point before = Clock::now();
  if (!published.empty()) options_.executable.publish(published);
  // A device that works in the background may still be computing its sums.
  if (sums) options_.clock.was_computing(before);
  note_posted(sends, std::move(sent));
  note_posted(receives, std::move(received));
}

void ExchangeRun::note_posted(std::span<const transport::Op> ops, std::vector<std::size_t> instructions) {
  if (!ops.empty()) posted_.push_back({options_.transport.start(ops), std::move(instructions)});
}

void ExchangeRun::look_for_arrivals() {
  for (std::size_t i = 0; i < posted_.size();) {
    if (!options_.transport.wait(posted_[i].ticket, std::chrono::nanoseconds(0))) {
      ++i;
      continue;
    }
    Posted done = std::move(posted_[i]);
    posted_.erase(posted_.begin() + static_cast<std::ptrdiff_t>(i));
    finish_messages(std::move(done));
  }
}

void ExchangeRun::finish_messages(Posted posted) {
  std::vector<device::Transfer> received;
  for (const std::size_t i : posted.instructions) {
    if (std::holds_alternative<program::Receive>(program_->exchange[i].operation))
      received.push_back(transfer_of(i));
  }
  if (!received.empty()) options_.executable.deliver(received);
  for (const std::size_t i : posted.instructions) {
    for (const EventId event : program_->exchange[i].signals) events_[static_cast<std::size_t>(event)] = true;
  }
}

void ExchangeRun::wait_for_ticket(transport::Ticket ticket) {
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

// All joins from the next one on that are ready.
void ExchangeRun::join() {
  std::vector<program::Join> joins;
  const std::size_t first = next_;
  for (; next_ < program_->exchange.size(); ++next_) {
    const ExchangeInstruction& instruction = program_->exchange[next_];
    if (is_message(instruction) || !all_happened(instruction.waits)) break;
    joins.push_back(std::get<program::Join>(instruction.operation));
  }
  options_.executable.join(joins, *input_);
  for (std::size_t i = first; i < next_; ++i) {
    for (const EventId event : program_->exchange[i].signals) events_[static_cast<std::size_t>(event)] = true;
  }
}

}  // namespace lockstep::run
