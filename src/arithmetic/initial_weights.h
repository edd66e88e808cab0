// The weights a parameter starts with: the same for the same seed and name on any device.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace lockstep::arithmetic {

// values[i] = N(0, sigma) of word i of the stream "init:" + parameter_name; the whole parameter in PyTorch's
// element order.
void fill_initial(std::span<float> values, std::string_view parameter_name, std::uint64_t seed, float sigma);

// values[i] = fma(2u, bound, -bound), u = (word >> 8) 2^-24 of word i of the same stream.
void fill_uniform(std::span<float> values, std::string_view parameter_name, std::uint64_t seed, float bound);

}  // namespace lockstep::arithmetic
