// A device: something that holds a program's memory and runs its instructions. It knows no strategy.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>

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
  float learning_rate = 0;
};

// Which loop is outside where a segment runs over packs. The bits are the same.
enum class Order { pack, layer };

struct LoadOptions {
  int most_examples = 256;  // of a step
  Order order = Order::pack;
};

// A program on a device, with the memory for it. Used by one thread at a time.
class Executable {
 public:
  virtual ~Executable() = default;

  // Parameters, gradients and the loss, in canonical order.
  virtual void upload(program::BufferId buffer, std::span<const float> values) = 0;
  virtual void download(program::BufferId buffer, std::span<float> values) const = 0;

  // One example's numbers of an activation, in [channel][y][x] order; example counts within the minibatch.
  // Requires Order::layer, where every pack has a place of its own.
  virtual void download_activation(program::BufferId buffer, int example, std::span<float> values) const = 0;

  // Counts by class of the last step: seen, then right.
  virtual std::vector<std::int64_t> tally() const = 0;

  // Runs a segment. False if a Check in it found something that is not finite.
  [[nodiscard]] virtual bool run(std::size_t segment, const StepInput& input) = 0;
};

class Device {
 public:
  virtual ~Device() = default;
  virtual std::string name() const = 0;  // cpu:0
  virtual std::unique_ptr<Executable> load(const program::Program& program, const LoadOptions& options) = 0;
};

}  // namespace lockstep::device
