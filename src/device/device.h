// A device: something that holds a program's memory and runs its instructions. It knows no strategy.
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "arithmetic/tree.h"
#include "arithmetic/update_rule.h"
#include "program/memory_plan.h"
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

class Executable;

struct LoadOptions {
  int most_packs = 16;  // of a step that the device gets
  Order order = Order::pack;
  bool alone = true;              // no other device takes part in the step
  bool trace = false;             // what the device does by itself is timed
  std::vector<bool> direct = {};  // by rank: numbers travel straight from device memory to device memory
  double of_free_memory = 0.9;    // which a device may take in order to work on many packs at once
  // Not null: the parameters are those of this executable of the same device and model, which outlives the
  // new one.
  const Executable* parameters_of = nullptr;
};

// Told by a running segment how far it is. Its functions are called by the device's own threads and must not
// throw.
class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual void begin(const program::Instruction& instruction) = 0;

  // An event of the program has happened: the instruction is done for the last pack, and a sum that it makes
  // is there, as complete subtrees of the pack tree.
  virtual void signal(program::EventId event) = 0;
};

// Numbers on their way to or from another rank.
struct Transfer {
  program::Region region = {};
  bool direct = false;  // straight from device memory to device memory, else through the host's
};

// Programs on a device, with one memory for all of them. Used by one thread at a time, but for what a Watcher
// does about events.
class Executable {
 public:
  virtual ~Executable() = default;

  // A further program that runs in the same memory: its buffers are those of the program that was loaded
  // first, but for the sizes of inboxes and statistics. Returns its number; the first program has number 0. Not during a
  // step.
  virtual int add(const program::Program& program) = 0;

  // What comes next is a step of the program with this number.
  virtual void begin(int program) = 0;

  // Parameters, gradients, states and the loss, in canonical order.
  virtual void upload(program::BufferId buffer, std::span<const float> values) = 0;
  virtual void download(program::BufferId buffer, std::span<float> values) const = 0;

  // A parameter where it lies, or a copy of it that stays until the next call, to be hashed. Canonical order.
  virtual std::span<const float> parameter(program::BufferId buffer) const = 0;

  // One example's numbers of an activation, in [channel][y][x] order; example counts within the minibatch.
  // Requires Order::layer, where every pack has a place of its own.
  virtual void download_activation(program::BufferId buffer, int example, std::span<float> values) const = 0;

  // A buffer of counts. Waits until the device has computed them.
  virtual std::span<std::int64_t> counts(program::BufferId buffer) = 0;

  // Runs a segment over packs or elements.
  virtual void run(std::size_t segment, const StepInput& input, Watcher& watcher) = 0;

  // Does the device work by itself while the host goes on? Then run() only gives it work.
  virtual bool works_in_background() const = 0;
  // What it did by itself since it was last asked, if it was loaded with `trace`.
  virtual std::vector<WorkSpan> take_spans() = 0;

  // ---- what an exchange needs. Other ranks read and write bytes(); a device that computes in memory of its
  // own copies them there and back, unless they travel directly.

  // Where other ranks read or write the numbers. They stay where they are during a step.
  virtual std::span<std::byte> bytes(const Transfer& transfer) = 0;

  // Returns when bytes() of these are what the device has computed: before they are sent.
  virtual void publish(std::span<const Transfer> transfers) = 0;

  // What other ranks have written to bytes() of these is what the device goes on with.
  virtual void deliver(std::span<const Transfer> transfers) = 0;

  // Can it join while a segment runs, on the thread that calls its watcher?
  virtual bool joins_beside_work() const = 0;
  virtual void join(std::span<const program::Join> joins, const StepInput& input) = 0;

  // What computes: another executable where this one only passes things on to it.
  virtual const Executable& itself() const { return *this; }
};

// Where a thread was before.
class ThreadPlace {
 public:
  virtual ~ThreadPlace() = default;
};

// What is left of the memory that a device takes its numbers from.
struct FreeMemory {
  std::string of = {};  // devices that say the same here share the memory
  std::size_t bytes = 0;
  std::string text = {};    // "cuda:0 has 12.3 MB of its 16.0 MB of memory free"
  std::string remedy = {};  // what people can use instead where it is too little: "more devices"
};

class Device {
 public:
  virtual ~Device() = default;
  virtual std::string name() const = 0;   // cpu:0
  virtual std::string model() const = 0;  // devices of one kind and model are equally fast
  virtual std::unique_ptr<Executable> load(const program::Program& program, const LoadOptions& options) = 0;
  // What load() would allocate; nothing of it is allocated here.
  virtual program::MemoryPlan plan(const program::Program& program, const LoadOptions& options) = 0;
  virtual FreeMemory free_memory() const = 0;

  // Brings the calling thread, which is going to drive the device, to the device's cores; what it returns
  // brings it back. Null where there is nothing to do.
  [[nodiscard]] virtual std::unique_ptr<ThreadPlace> adopt_thread() = 0;

  // What computes: another device where this one only passes things on to it.
  virtual const Device& itself() const { return *this; }

  // Can it copy straight from the memory of `other`? If each of two devices can, copy() is how numbers get
  // from one to the other.
  virtual bool reaches(const Device& other) const = 0;
  // Returns when it is done. Called by the thread that drives the device.
  virtual void copy(std::span<const std::byte> from, std::span<std::byte> to) = 0;
};

}  // namespace lockstep::device
