#include "measure/synthetic_minibatch.h"

#include <numeric>

#include "base/random.h"

namespace lockstep::measure {

SyntheticMinibatch::SyntheticMinibatch(const model::Shape& input, int classes, int examples)
    : pixels_(static_cast<std::size_t>(examples) * static_cast<std::size_t>(input.elements())),
      labels_(static_cast<std::size_t>(examples)),
      order_(static_cast<std::size_t>(examples)) {
  const std::uint32_t stream = stream_id("bench:pixels");
  for (std::size_t i = 0; i < pixels_.size(); ++i) {
    const std::uint32_t word = random_block(0, i / 4, 0, stream)[i % 4];
    pixels_[i] = (word & 1) != 0 ? static_cast<std::uint8_t>(word >> 24) : std::uint8_t{0};
  }
  for (std::size_t i = 0; i < labels_.size(); ++i) {
    labels_[i] = static_cast<std::uint8_t>(i % static_cast<std::size_t>(classes));
  }
  std::iota(order_.begin(), order_.end(), 0U);
}

}  // namespace lockstep::measure
