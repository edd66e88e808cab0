#include "base/random.h"

#include "base/hash.h"

namespace lockstep {
namespace {

using Counter = std::array<std::uint32_t, 4>;
using Key = std::array<std::uint32_t, 2>;

std::uint32_t low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
std::uint32_t high(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }

}  // namespace

std::uint32_t stream_id(std::string_view purpose_and_name) { return low(hash64(purpose_and_name)); }

Counter philox4x32(Counter counter, Key key) {
  for (int round = 0; round < philox::kRounds; ++round) {
    const std::uint64_t product0 = std::uint64_t{philox::kMultiplier0} * counter[0];
    const std::uint64_t product1 = std::uint64_t{philox::kMultiplier1} * counter[2];
    counter = {high(product1) ^ counter[1] ^ key[0], low(product1),  //
               high(product0) ^ counter[3] ^ key[1], low(product0)};
    key = {key[0] + philox::kWeyl0, key[1] + philox::kWeyl1};
  }
  return counter;
}

Counter random_block(std::uint64_t seed, std::uint64_t block, std::uint32_t epoch_or_step,
                     std::uint32_t stream) {
  return philox4x32({low(block), high(block), epoch_or_step, stream}, {low(seed), high(seed)});
}

}  // namespace lockstep
