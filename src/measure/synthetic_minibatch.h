// Examples to measure with: no data set is needed, and every machine gets the same ones.
#pragma once
#include <cstdint>
#include <vector>

#include "data/dataset.h"
#include "device/device.h"

namespace lockstep::measure {

// Half of the pixels black, as in Fashion-MNIST; labels go round the classes.
data::Dataset synthetic_dataset(const model::Shape& input, int classes, int examples);

class SyntheticMinibatch {
 public:
  // All of the synthetic dataset.
  SyntheticMinibatch(const model::Shape& input, int classes, int examples);
  SyntheticMinibatch(const SyntheticMinibatch&) = delete;
  SyntheticMinibatch& operator=(const SyntheticMinibatch&) = delete;

  int examples() const { return static_cast<int>(order_.size()); }

  // As a step wants it, with a learning rate of 0: the same work, but the weights stay, so that the last
  // window computes the same numbers as the first. Requires: this outlives its use.
  device::StepInput step_input() const { return {{data_.pixels.data(), data_.labels.data(), order_}}; }

 private:
  data::Dataset data_;
  std::vector<std::uint32_t> order_;
};

}  // namespace lockstep::measure
