#include "measure/synthetic_minibatch.h"

#include <numeric>

#include "base/random.h"

namespace lockstep::measure {

data::Dataset synthetic_dataset(const model::Shape& input, int classes, int examples) {
  data::Dataset data{input.channels, input.height, input.width, classes, {}, {}};
  data.labels.resize(static_cast<std::size_t>(examples));
  data.pixels.resize(data.size() * data.example_bytes());
  const std::uint32_t stream = stream_id("bench:pixels");
  for (std::size_t i = 0; i < data.pixels.size(); ++i) {
    const std::uint32_t word = random_block(0, i / 4, 0, stream)[i % 4];
    data.pixels[i] = (word & 1) != 0 ? static_cast<std::uint8_t>(word >> 24) : std::uint8_t{0};
  }
  for (std::size_t i = 0; i < data.size(); ++i) {
    data.labels[i] = static_cast<std::uint8_t>(i % static_cast<std::size_t>(classes));
  }
  return data;
}

SyntheticMinibatch::SyntheticMinibatch(const model::Shape& input, int classes, int examples)
    : data_(synthetic_dataset(input, classes, examples)), order_(data_.size()) {
  std::iota(order_.begin(), order_.end(), 0U);
}

}  // namespace lockstep::measure
