#include "reference/dropout.h"

#include <cmath>
#include <string>

#include "base/error.h"
#include "base/random.h"

namespace lockstep::reference {

bool dropout_keeps(const DropoutLayer& layer, const Draws& draws, std::size_t example, std::size_t element) {
  const std::size_t rounded_up = (layer.elements + 3) / 4 * 4;
  const std::uint64_t index = std::uint64_t{draws.examples.at(example)} * rounded_up + element;
  const std::uint32_t stream = stream_id("dropout:" + std::string(layer.name));
  const std::uint32_t word =
      random_block(draws.seed, index / 4, static_cast<std::uint32_t>(draws.epoch), stream)[index % 4];
  const double threshold = std::ceil(layer.p * 16777216.0);
  return static_cast<double>(word >> 8) >= threshold;
}

std::vector<float> dropout(const DropoutLayer& layer, const Draws& draws, std::span<const float> x) {
  check(x.size() == draws.examples.size() * layer.elements, "dropout of {} numbers of {} examples of {}",
        x.size(), draws.examples.size(), layer.elements);
  const auto scale = static_cast<float>(1.0 / (1.0 - layer.p));
  std::vector<float> y;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool kept = dropout_keeps(layer, draws, i / layer.elements, i % layer.elements);
    y.push_back(kept ? x[i] * scale : 0.0f);
  }
  return y;
}

}  // namespace lockstep::reference
