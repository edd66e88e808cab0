#include "arithmetic/initial_weights.h"

#include <cmath>
#include <cstddef>
#include <string>

#include "arithmetic/normal.h"
#include "base/random.h"

namespace lockstep::arithmetic {
namespace {

template <class Function>
void fill(std::span<float> values, std::string_view parameter_name, std::uint64_t seed,
          Function value_of_word) {
  constexpr std::uint32_t no_epoch = 0;
  const std::uint32_t stream = stream_id("init:" + std::string(parameter_name));
  for (std::size_t first = 0; first < values.size(); first += 4) {
    const auto words = random_block(seed, first / 4, no_epoch, stream);
    for (std::size_t i = first; i < values.size() && i < first + 4; ++i)
      values[i] = value_of_word(words[i % 4]);
  }
}

}  // namespace

void fill_initial(std::span<float> values, std::string_view parameter_name, std::uint64_t seed, float sigma) {
  fill(values, parameter_name, seed,
       [=](std::uint32_t word) { return static_cast<float>(normal_of_word(word)) * sigma; });
}

void fill_uniform(std::span<float> values, std::string_view parameter_name, std::uint64_t seed, float bound) {
  fill(values, parameter_name, seed, [=](std::uint32_t word) {
    return std::fma(static_cast<float>(word >> 8) * 0x1p-23f, bound, -bound);  // the product is exact
  });
}

}  // namespace lockstep::arithmetic
