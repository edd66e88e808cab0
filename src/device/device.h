// A device: something that holds a program's memory and runs its instructions. It knows no strategy.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "arithmetic/tree.h"
#include "arithmetic/update_rule.h"
#include "program/exchange/exchange.h"
#include "program/program.h"

namespace lockstep::device {

// The examples of one step, by their index in a set that lies in memory.
struct Minibatch {
  const std::uint8_t* pixels = nullptr;  // [example of the set][channel][y][x]
  const std::uint8_t* labels = nullptr;  // [example of the set]
  std::span<const std::uint32_t> examples = {};
};

// What changes from step to step; never compiled in.
struct StepInput {
  Minibatch minibatch = {};
  arithmetic::UpdateScalars update = {};
  std::int64_t step = 0;   // of the training, from 1 on; 0: the step belongs to no training
  int epoch = 0;           // of the training, from 1 on
  std::uint64_t seed = 0;  // of the training
};

// Which loop is outside where a segment runs over packs. The bits are the same.
enum class Order { pack, layer };

// Something a device did by itself, on the host's clock.
struct WorkSpan {
  bool exchange = false;  // or computing
  std::string name = {};
  std::chrono::steady_clock::time_point start = {}, end = {};
};

struct LoadOptions {
  int most_examples = 256;  // of a step, over all devices
  Order order = Order::pack;
  bool alone = true;    // no other device takes part in the step
  bool trace = false;   // what the device does by itself is timed
  bool direct = false;  // numbers() of an exchange may lie in the device's memory: all others reach them
  std::size_t inbox_floats = 0;  // the most that an exchange is known to need
  double of_free_memory = 0.9;   // which a device may take in order to work on many packs at once
  // The device's part of a minibatch of so many packs.
  std::function<arithmetic::PackRange(int packs)> share = [](int packs) {
    return arithmetic::PackRange{0, packs};
  };
};

// The most packs of one step that the device gets.
int most_of_share(const LoadOptions& options);

// Told by a running segment how far it is. Its functions are called by the device's own threads and must not
// throw.
class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual void begin(const program::Instruction& instruction) = 0;

  // The sum over all packs of the device is there, as complete subtrees of the pack tree.
  virtual void complete(program::BufferId partial) = 0;
};

// A program on a device, with the memory for it. Used by one thread at a time, but for what a Watcher does
// about sums that are complete.
class Executable {
 public:
  virtual ~Executable() = default;

  // Parameters, gradients, states and the loss, in canonical order.
  virtual void upload(program::BufferId buffer, std::span<const float> values) = 0;
  virtual void download(program::BufferId buffer, std::span<float> values) const = 0;

  // A parameter where it lies, for whoever hashes it. Canonical order.
  virtual std::span<const float> parameter(program::BufferId buffer) const = 0;

  // One example's numbers of an activation, in [channel][y][x] order; example counts within the minibatch.
  // Requires Order::layer, where every pack has a place of its own.
  virtual void download_activation(program::BufferId buffer, int example, std::span<float> values) const = 0;

  // Counts by class of the last step: seen, then right.
  virtual std::vector<std::int64_t> tally() const = 0;

  // Runs a segment. False if a Check in it found something that is not finite.
  [[nodiscard]] virtual bool run(std::size_t segment, const StepInput& input, Watcher& watcher) = 0;

  // Does the device work by itself while the host goes on? Then run() only gives it work.
  virtual bool works_in_background() const = 0;
  // What it did by itself since it was last asked, if it was loaded with `trace`.
  virtual std::vector<WorkSpan> take_spans() = 0;

  // ---- what an exchange needs. Others read and write numbers() in the host's memory; a device that computes
  // in memory of its own brings them there and back.

  // Makes room for what its list of an exchange needs. Not during a step.
  virtual void expect(const program::exchange::List& list) = 0;

  // The numbers of a place, but for a verdict's, where others read or write them. They stay where they are.
  virtual std::span<float> numbers(const program::exchange::Place& place) = 0;

  // Returns when numbers() of these places are what the device has computed: before they are sent.
  virtual void publish(std::span<const program::exchange::Place> places) = 0;

  // What others have written to numbers() of these places is what the device goes on with.
  virtual void deliver(std::span<const program::exchange::Place> places) = 0;

  // Can it join while a segment runs, on the thread that calls its watcher?
  virtual bool joins_beside_work() const = 0;
  virtual void join(std::span<const program::exchange::Join> joins, const StepInput& input) = 0;
  [[nodiscard]] virtual bool check(std::span<const program::exchange::Range> gradients) = 0;
  virtual void update(std::span<const program::exchange::Update> updates, const StepInput& input) = 0;
};

// Where a thread was before.
class ThreadPlace {
 public:
  virtual ~ThreadPlace() = default;
};

class Device {
 public:
  virtual ~Device() = default;
  virtual std::string name() const = 0;   // cpu:0
  virtual std::string model() const = 0;  // devices of one kind and model are equally fast
  virtual std::unique_ptr<Executable> load(const program::Program& program, const LoadOptions& options) = 0;

  // Brings the calling thread, which is going to drive the device, to the device's cores; what it returns
  // brings it back. Null where there is nothing to do.
  [[nodiscard]] virtual std::unique_ptr<ThreadPlace> adopt_thread() = 0;

  // What computes: another device where this one only passes things on to it.
  virtual const Device& itself() const { return *this; }

  // Can it copy straight from the memory of `other`? If every device of a crew can from every other, all are
  // loaded with `direct`, and copy() is how numbers get from one to the other.
  virtual bool reaches(const Device& other) const = 0;
  // Returns when it is done. Called by the thread that drives the device.
  virtual void copy(std::span<const float> from, std::span<float> to) = 0;
};

}  // namespace lockstep::device
