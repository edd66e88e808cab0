#include "train/minibatches.h"

#include <algorithm>

#include "data/shuffle.h"

namespace lockstep::train {

Minibatches::Minibatches(std::uint64_t seed, std::size_t examples, int batch)
    : seed_(seed),
      examples_(examples),
      batch_(static_cast<std::size_t>(batch)),
      per_epoch_(static_cast<std::int64_t>((examples + batch_ - 1) / batch_)) {}

std::span<const std::uint32_t> Minibatches::at(int epoch, std::int64_t index) {
  if (epoch != epoch_) {
    order_ =
        data::epoch_order(seed_, static_cast<std::uint32_t>(epoch), static_cast<std::uint32_t>(examples_));
    epoch_ = epoch;
  }
  const std::size_t first = static_cast<std::size_t>(index) * batch_;
  return std::span(order_).subspan(first, std::min(batch_, examples_ - first));
}

}  // namespace lockstep::train
