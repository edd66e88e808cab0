// Runs one device's list of an exchange, from top to bottom, while its packs are still being computed: each
// sum that becomes complete takes the list a little further, and finish() runs what is left.
#pragma once
#include <atomic>
#include <deque>
#include <exception>
#include <mutex>
#include <vector>

#include "device/device.h"
#include "run/crew.h"
#include "run/step_clock.h"

namespace lockstep::run {

class ExchangeRun {
 public:
  struct Options {
    device::Executable& executable;
    const program::Program& program;
    transport::Transport& transport;
    Activity& activity;
    StepClock& clock;
    int device = 0, devices = 1;
    std::size_t smallest_group = program::exchange::kSmallestGroup;  // as in the lists' setting
  };
  explicit ExchangeRun(const Options& options);

  // Requires: list and input stay until finish() has returned.
  void begin(const program::exchange::List& list, const device::StepInput& input);

  // A partial sum of this device is complete. Any thread; goes on with the list unless another one is at it.
  // What goes wrong meanwhile is thrown by finish().
  void complete(program::BufferId partial);

  // Runs the rest. False if the devices agreed that a gradient is not finite.
  bool finish();

  // Until everybody has taken what was sent: before the sender's memory changes in another way than by a
  // step.
  void drain();

 private:
  using Lock = std::unique_lock<std::mutex>;

  bool group_complete(int group) const;
  void advance(bool may_wait);
  void post();
  bool arrived(std::size_t instruction, bool may_wait);
  void perform();
  void wait_for(transport::Ticket ticket);
  std::span<float> numbers(const program::exchange::Place& place);

  const Options options_;
  const std::vector<program::exchange::Group> groups_;
  std::vector<float> verdicts_;  // by device: 1 good, 0 bad
  const program::exchange::List* list_ = nullptr;
  const device::StepInput* input_ = nullptr;
  std::deque<std::atomic<bool>> complete_;  // by sum

  std::mutex mutex_;  // over what follows; try_lock, which the annotated mutex does not have
  std::size_t next_ = 0;
  bool good_ = true;
  std::exception_ptr error_;                // of a complete(), for finish()
  std::vector<transport::Ticket> tickets_;  // by instruction; 0: none, or done
  std::vector<transport::Ticket> sends_;    // not known to be taken
};

}  // namespace lockstep::run
