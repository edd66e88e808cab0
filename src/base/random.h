// Random numbers by counting: a number is a function of (seed, block, epoch or step, stream), never of the
// thread or the time. Philox 4x32-10: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2,
// 3", 2011.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace lockstep {

// The stream of "purpose:name", such as "init:conv1.weight": the low 32 bits of its XXH3_64.
// Streams of one run must differ; the caller that makes them checks that.
std::uint32_t stream_id(std::string_view purpose_and_name);

// Its constants, for kernels that compute it in vectors or on a GPU.
namespace philox {
inline constexpr int kRounds = 10;
inline constexpr std::uint32_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
inline constexpr std::uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;  // golden ratio, sqrt(3) - 1
}  // namespace philox

// Four words of the bijection that `key` selects.
std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key);

// Block i holds the words 4i .. 4i + 3 of its stream.
// counter = (block low, block high, epoch or step, stream), key = seed (low, high)
std::array<std::uint32_t, 4> random_block(std::uint64_t seed, std::uint64_t block,
                                          std::uint32_t epoch_or_step, std::uint32_t stream);

}  // namespace lockstep
