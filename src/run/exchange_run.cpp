#include "run/exchange_run.h"

#include <algorithm>
#include <utility>

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
  awaits_message_ = false;
  find_waiting_segments();
}

void ExchangeRun::find_waiting_segments() {
  waiting_segments_.assign(static_cast<std::size_t>(program_->events), kNone);
  for (std::size_t s = program_->segments.size(); s-- > 0;) {
    for (const EventId event : program_->segments[s].waits)
      waiting_segments_[static_cast<std::size_t>(event)] = static_cast<int>(s);
  }
}

int ExchangeRun::segment_that_waits_for(const ExchangeInstruction& receive) const {
  if (receive.signals.empty()) return kNone;
  return waiting_segments_[static_cast<std::size_t>(receive.signals.front())];
}

void ExchangeRun::drain() {
  for (; !posted_.empty(); posted_.pop_back()) wait_for_any({&posted_.back().ticket, 1});
}

void ExchangeRun::signal(EventId event) {
  events_[static_cast<std::size_t>(event)] = true;
  go_on();
}

// Unless another thread is at it.
void ExchangeRun::go_on() {
  const Lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return;
  const Clock::time_point start = Clock::now();
  const std::size_t before = next_;
  try {
    if (!error_) advance(Joins::beside_work, {});
  } catch (...) {
    error_ = std::current_exception();
  }
  options_.activity.exchanging = nullptr;
  if (next_ != before) options_.clock.add(TraceSpan::Lane::exchange, start, "exchange");
  note_what_is_awaited();
}

void ExchangeRun::note_what_is_awaited() {
  awaits_message_ = !error_ && !options_.executable.works_in_background() && ticket_of(next_waits());
}

// What the events need may be further down the list than an instruction that waits for another message, so
// either message takes the list further.
void ExchangeRun::wait_for(std::span<const EventId> events) {
  const Lock lock(mutex_);
  if (error_) std::rethrow_exception(error_);
  if (!all_happened(events)) look_for_arrivals();
  while (!all_happened(events)) {
    advance(Joins::now, events);
    if (!all_happened(events)) wait_for_one_of(events, next_waits());
  }
  // Other ranks may be waiting for what this rank has joined: it is sent before the work goes on.
  if (!events.empty()) advance(Joins::beside_work, {});
  options_.activity.exchanging = nullptr;
  note_what_is_awaited();
}

void ExchangeRun::finish() {
  const Lock lock(mutex_);
  if (error_) std::rethrow_exception(error_);
  for (advance(Joins::now, {}); !list_is_done(); advance(Joins::now, {})) wait_for_one_of(next_waits(), {});
  // What was sent may still be read when the next step begins.
  const auto receives = [&](const Posted& posted) {
    return std::holds_alternative<program::Receive>(
        program_->exchange[posted.instructions.front()].operation);
  };
  for (auto posted = std::ranges::find_if(posted_, receives); posted != posted_.end();
       posted = std::ranges::find_if(posted_, receives))
    finish_messages(wait_for_any({&posted->ticket, 1}));
  options_.activity.exchanging = nullptr;
}

bool ExchangeRun::all_happened(std::span<const EventId> events) const {
  return std::ranges::all_of(events, [this](EventId event) { return happened(event); });
}

std::span<const EventId> ExchangeRun::next_waits() const {
  if (list_is_done()) return {};
  return program_->exchange[next_].waits;
}

// Of messages that bring one of the events that have not happened.
std::optional<transport::Ticket> ExchangeRun::ticket_of(std::span<const EventId> events) const {
  const auto brings = [&](std::size_t i) {
    return signals_any(program_->exchange[i], events) && !all_happened(program_->exchange[i].signals);
  };
  const auto found = std::ranges::find_if(
      posted_, [&](const Posted& posted) { return std::ranges::any_of(posted.instructions, brings); });
  return found == posted_.end() ? std::nullopt : std::optional(found->ticket);
}

void ExchangeRun::wait_for_one_of(std::span<const EventId> events, std::span<const EventId> others) {
  options_.activity.exchanging = &program_->exchange[std::min(next_, program_->exchange.size() - 1)];
  std::vector<transport::Ticket> tickets;
  for (const std::span<const EventId> some : {events, others}) {
    const std::optional<transport::Ticket> ticket = ticket_of(some);
    if (ticket && std::ranges::find(tickets, *ticket) == tickets.end()) tickets.push_back(*ticket);
  }
  check(!tickets.empty(), "an event is waited for that nothing before it signals");
  finish_messages(wait_for_any(tickets));
  look_for_arrivals();
}

// Runs the list until an instruction waits for what has not happened, or until the events have.
void ExchangeRun::advance(Joins joins, std::span<const EventId> until) {
  const bool all_joins = joins == Joins::now || options_.executable.joins_beside_work();
  while (!list_is_done()) {
    if (!until.empty() && all_happened(until)) return;
    const ExchangeInstruction& instruction = program_->exchange[next_];
    const bool message = is_message(instruction);
    if (!message && !all_joins) return;
    if (!all_happened(instruction.waits)) {
      look_for_arrivals();
      if (!all_happened(instruction.waits)) return;
    }
    ++options_.activity.moves;
    options_.activity.exchanging = &instruction;
    const Clock::time_point start = Clock::now();
    message ? post() : join();
    if (joins == Joins::now)
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

// Starts all messages up to the first one that is not ready. Messages that arrive together wake this rank
// once; those that different segments wait for stay apart, or the first segment would wait for what is sent
// after it.
void ExchangeRun::post() {
  std::vector<transport::Op> sends, receives;
  std::vector<std::size_t> sent, received;
  std::vector<device::Transfer> published;
  bool sums = false;
  int segment = kNone;  // that waits for the messages in `receives`
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
      if (!receives.empty() && segment_that_waits_for(instruction) != segment) {
        note_posted(receives, std::exchange(received, {}));
        receives.clear();
      }
      segment = segment_that_waits_for(instruction);
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
  std::vector<transport::Ticket> tickets;
  tickets.reserve(posted_.size());
  for (const Posted& posted : posted_) tickets.push_back(posted.ticket);
  for (const transport::Ticket ticket : tickets) {
    if (options_.transport.wait(ticket, std::chrono::nanoseconds(0))) finish_messages(ticket);
  }
}

void ExchangeRun::finish_messages(transport::Ticket ticket) {
  const auto found = std::ranges::find(posted_, ticket, &Posted::ticket);
  const Posted done = std::move(*found);
  posted_.erase(found);
  std::vector<device::Transfer> received;
  for (const std::size_t i : done.instructions) {
    if (std::holds_alternative<program::Receive>(program_->exchange[i].operation))
      received.push_back(transfer_of(i));
  }
  if (!received.empty()) options_.executable.deliver(received);
  for (const std::size_t i : done.instructions) {
    for (const EventId event : program_->exchange[i].signals) events_[static_cast<std::size_t>(event)] = true;
  }
}

// The one that is done first.
transport::Ticket ExchangeRun::wait_for_any(std::span<const transport::Ticket> tickets) {
  const Clock::time_point start = Clock::now();
  if (const auto done = options_.transport.wait_for_any(tickets, std::chrono::nanoseconds(0))) {
    options_.clock.add(TraceSpan::Lane::exchange, start, "copy");
    return *done;
  }
  options_.activity.waiting = true;
  for (;;) {
    const auto done = options_.transport.wait_for_any(tickets, kLook);
    if (!done) continue;
    options_.activity.waiting = false;
    ++options_.activity.moves;
    options_.clock.add(TraceSpan::Lane::wait, start, "wait for other devices");
    return *done;
  }
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
