// A random case: a model, two minibatches, devices and how they share the work.
#pragma once
#include <array>
#include <cstdint>
#include <ostream>
#include <vector>

#include "arithmetic/update_rule.h"
#include "model/model.h"
#include "reference/update_scalars.h"

namespace lockstep::property {

constexpr int kSteps = 2;

// What is drawn: plain numbers, and the smallest of each is the simplest. What does not fit the layer before
// is cut down when the model is built.
struct Block {
  int convolution = 0;  // 0: linear
  // 128 units more for a linear one: sums for several buckets of an exchange. A square one is 3x3, with
  // channels enough for tiles of 7.
  int wide = 0;
  int channels = 1, kernel_height = 1, kernel_width = 1, stride = 1, padding = 0;
  int no_bias = 0;
  int groups = 0;  // counts through the divisors of the input channels, but for 1; 0: one group
  static constexpr int kWideGroups = 5;  // square groups have enough channels for fast convolution
  int square = 0;   // of stride 1, 3x3 or 5x5, at least 16 channels: what fast convolution takes
  int norm = 0;     // batch norm behind the layer: none, over the minibatch, over 16, 32 or 48 examples
  int relu = 0;     // behind the layer and its norm
  int dropout = 0;  // behind these: 0 for none, then one that drops of ten 0, 1, 5 or 9
  int pool = 0;     // none, average, maximum, global average
  int window = 1, pool_stride = 1, pool_padding = 0;
  int skip = 0;       // of Skip
  int older = 0;      // counts through the values that fit
  int twice = 0;      // the older value is added once more: it has three readers or more
  int skip_norm = 0;  // behind the sum, as `norm`
  int skip_relu = 0;  // behind the sum and its norm
};

// What is added to the block's layer before the pool.
enum class Skip {
  none,
  residual,  // another layer that keeps the shape, which reads the block's layer
  parallel,  // the same layer with weights of its own, which reads what the block reads
  older,     // any value of the same shape
};

// What the parameters of the first step are like.
enum class Numbers { usual, denormal, negative_zero, huge };

struct Case {
  int channels = 1, height = 1, width = 1;
  int input_norm = 0;  // of the input, as Block::norm
  std::vector<Block> blocks = {};
  int classes = 1;
  std::array<int, kSteps> drawn = {1, 1};  // examples, before the limit
  int many = 0;                            // hundreds of examples more, of a model that is cut down for it
  int last = 0;                            // 1: the second minibatch is a last one, of one example
  int devices = 1, threads = 1, star = 0, layer_order = 0, shard_optimizer = 0, unfused = 0;
  int rule = 0;      // of arithmetic::kUpdateRules
  int decay = 0;     // hundredths
  int schedule = 0;  // of arithmetic::ScheduleKind
  int warmup = 0;    // steps
  int done = 0;      // steps of the training that lie before the first one of the case
  int fast = 0;
  int gpus = 0;      // bit d: device d is a GPU, as far as there are any
  int gpu_kind = 0;  // counted through those that this machine has
  int memory = 0;    // a GPU takes 2^-memory of what is free; at kOnePackAtOnce it works pack by pack
  int shares = 0;    // 0: equal ones
  int bucket = 0;    // floats: sums up to this size travel together; 0: what the crew takes
  int numbers = 0;   // of Numbers
  int seed = 0;
};
constexpr int kOnePackAtOnce = 60;

// A group of a batch norm is not larger than the larger minibatch.
model::Model model_of(const Case& c);

// Of a step, over all devices. The twin is naive: what a large model costs is taken from its minibatches. One
// more where a batch norm would have a group with one value for each channel.
int examples(const Case& c, std::size_t step);
int most_examples(const Case& c);

inline arithmetic::UpdateKind rule_of(const Case& c) { return static_cast<arithmetic::UpdateKind>(c.rule); }
// The case's steps are in the middle of a training of ten epochs of two steps.
constexpr int kStepsPerEpoch = 2, kEpochs = 10;
inline std::int64_t step_number(const Case& c, std::size_t step) {
  return c.done + static_cast<int>(step) + 1;
}
inline int epoch(const Case& c, std::size_t step) {
  return static_cast<int>(step_number(c, step) - 1) / kStepsPerEpoch + 1;
}
// Of the training.
inline std::uint64_t seed(const Case& c) { return static_cast<std::uint64_t>(c.seed) << 24; }
reference::UpdateOptions update_of(const Case& c);
inline Numbers numbers(const Case& c) { return static_cast<Numbers>(c.numbers); }

// In which proportions devices get packs; empty: equal shares.
std::vector<double> shares(const Case& c);

// Everything but the kinds of the devices.
std::ostream& operator<<(std::ostream& out, const Case& c);

}  // namespace lockstep::property
