// The minibatches of a training: every epoch in a new order that depends on the seed alone.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace lockstep::train {

class Minibatches {
 public:
  // Of `examples` examples, `batch` at a time; the last one of an epoch may be smaller.
  Minibatches(std::uint64_t seed, std::size_t examples, int batch);

  std::int64_t per_epoch() const { return per_epoch_; }

  // Epochs count from 1, minibatches of an epoch from 0. Valid until another epoch is asked for.
  std::span<const std::uint32_t> at(int epoch, std::int64_t index);

 private:
  const std::uint64_t seed_;
  const std::size_t examples_, batch_;
  const std::int64_t per_epoch_;
  int epoch_ = 0;
  std::vector<std::uint32_t> order_;  // of epoch_
};

}  // namespace lockstep::train
