#include "cpu/probe.h"

#include <bit>
#include <utility>
#include <vector>

#include "base/error.h"

namespace lockstep::cpu {
namespace {

void expect(std::string_view device, std::string_view operation, float found, float expected) {
  const auto found_bits = std::bit_cast<std::uint32_t>(found),
             expected_bits = std::bit_cast<std::uint32_t>(expected);
  if (found_bits == expected_bits) return;
  throw Error(Fault::device,
              "{}: {} gave {:#010x}, expected {:#010x}; the same bits cannot be promised on it", device,
              operation, found_bits, expected_bits);
}

}  // namespace

void probe_arithmetic(const Kernels& kernels, std::string_view device) {
  // Long enough for whole vectors and for a tail.
  constexpr std::size_t kCount = 2 * kPack + 3;
  std::vector<float> into(kCount, 0x1p-149f);
  const std::vector<float> tiny(kCount, 0x1p-149f);
  kernels.add(into.data(), tiny.data(), kCount);
  for (const float sum : into) expect(device, "adding denormals", sum, 0x1p-148f);

  // 1 + 2^-23 squared is 1 + 2^-22 + 2^-46: only a fused product keeps the last term.
  std::vector<float> weights(kCount, 0x1.000004p+0f);
  const std::vector<float> factor(kCount, 0x1.000002p+0f);
  kernels.sgd({.weights = weights.data(), .gradient = factor.data(), .count = kCount},
              {.learning_rate = 0x1.000002p+0f});
  for (const float difference : weights) expect(device, "a fused multiply-add", difference, -0x1p-46f);

  // Between two floats, once with the even one below and once above, of either sign: each of the other ways
  // to round goes wrong in one of them.
  for (const float sign : {1.0f, -1.0f}) {
    for (const auto& [start, rounded] : {std::pair(0x1p+24f, 0x1p+24f), {0x1.000002p+24f, 0x1.000004p+24f}}) {
      std::vector<float> half(kCount, sign * start);
      const std::vector<float> one(kCount, sign);
      kernels.add(half.data(), one.data(), kCount);
      for (const float sum : half) expect(device, "rounding a tie", sum, sign * rounded);
    }
  }
}

}  // namespace lockstep::cpu
