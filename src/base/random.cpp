#include "base/random.h"

#include "base/hash.h"

namespace lockstep {
namespace {

using Counter = std::array<std::uint32_t, 4>;
using Key = std::array<std::uint32_t, 2>;

constexpr int kRounds = 10;
constexpr std::uint64_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
constexpr std::uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;  // golden ratio, sqrt(3) - 1

std::uint32_t low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
std::uint32_t high(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }

}  // namespace

std::uint32_t stream_id(std::string_view purpose_and_name) { return low(hash64(purpose_and_name)); }

Counter philox4x32(Counter counter, Key key) {
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t product0 = kMultiplier0 * counter[0];
    const std::uint64_t product1 = kMultiplier1 * counter[2];
    counter = {high(product1) ^ counter[1] ^ key[0], low(product1),  //
               high(product0) ^ counter[3] ^ key[1], low(product0)};
    key = {key[0] + kWeyl0, key[1] + kWeyl1};
  }
  return counter;
}

Counter random_block(std::uint64_t seed, std::uint64_t block, std::uint32_t epoch_or_step,
                     std::uint32_t stream) {
  return philox4x32({low(block), high(block), epoch_or_step, stream}, {low(seed), high(seed)});
}

}  // namespace lockstep
