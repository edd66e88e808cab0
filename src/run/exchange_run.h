// Runs one rank's exchange list, from top to bottom, beside its work: each event that the work signals takes
// the list a little further, and a segment that waits for events runs the list until they have happened.
#pragma once
#include <atomic>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "device/device.h"
#include "run/crew.h"
#include "run/step_clock.h"

namespace lockstep::run {

class ExchangeRun {
 public:
  struct Options {
    device::Executable& executable;
    transport::Transport& transport;
    Activity& activity;
    StepClock& clock;
    std::vector<bool> direct = {};  // by rank
  };
  explicit ExchangeRun(Options options) : options_(std::move(options)) {}

  // Requires: program and input stay until finish() has returned.
  void begin(const program::Program& program, const device::StepInput& input);

  // An event of the work has happened. Any thread; goes on with the list unless another one is at it. What
  // goes wrong meanwhile is thrown by wait_for() or finish().
  void signal(program::EventId event);

  // Goes on with the list if it stands at a message that may have arrived. Any thread, in the middle of its
  // work: other ranks may be waiting for what this rank joins.
  void look() {
    if (awaits_message_) go_on();
  }

  // Runs the list until these have happened, and then as far as it goes without waiting.
  void wait_for(std::span<const program::EventId> events);

  // Runs the rest; everything has arrived.
  void finish();

  // Until the receivers have taken what was sent: before the sender's memory changes in another way than by a
  // step.
  void drain();

 private:
  using Lock = std::unique_lock<std::mutex>;
  enum class Joins { now, beside_work };
  static constexpr int kNone = -1;

  // Messages that were started together: they are done together.
  struct Posted {
    transport::Ticket ticket = 0;
    std::vector<std::size_t> instructions;
  };

  void find_waiting_segments();
  int segment_that_waits_for(const program::ExchangeInstruction& receive) const;
  bool happened(program::EventId event) const { return events_[static_cast<std::size_t>(event)]; }
  bool all_happened(std::span<const program::EventId> events) const;
  bool list_is_done() const { return next_ == program_->exchange.size(); }
  std::span<const program::EventId> next_waits() const;
  std::optional<transport::Ticket> ticket_of(std::span<const program::EventId> events) const;
  void go_on();
  void note_what_is_awaited();
  void advance(Joins joins, std::span<const program::EventId> until);
  void wait_for_one_of(std::span<const program::EventId> events, std::span<const program::EventId> others);
  void post();
  void note_posted(std::span<const transport::Op> ops, std::vector<std::size_t> instructions);
  void look_for_arrivals();
  void finish_messages(transport::Ticket ticket);
  transport::Ticket wait_for_any(std::span<const transport::Ticket> tickets);
  void join();
  device::Transfer transfer_of(std::size_t instruction) const;

  const Options options_;
  const program::Program* program_ = nullptr;
  const device::StepInput* input_ = nullptr;
  std::vector<int> waiting_segments_;  // by event: the first segment that waits for it, or kNone
  std::deque<std::atomic<bool>> events_;
  std::atomic<bool> awaits_message_{false};  // the next instruction does

  std::mutex mutex_;  // over what follows; try_lock, which the annotated mutex does not have
  std::size_t next_ = 0;
  std::exception_ptr error_;    // of a signal(), for the thread that drives the device
  std::vector<Posted> posted_;  // not known to be done
};

}  // namespace lockstep::run
