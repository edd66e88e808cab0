// The order in which an epoch visits the dataset: a function of (seed, epoch, count) alone.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace lockstep::data {

// Each dataset index below `count` once. By the law: sorted by the index's 64 random bits in the stream
// "shuffle:train" of the epoch, then by the index.
std::vector<std::uint32_t> epoch_order(std::uint64_t seed, std::uint32_t epoch, std::uint32_t count);

// The indices of `keys` sorted by (key, index). Fast where keys are spread evenly, right everywhere.
std::vector<std::uint32_t> order_of_keys(std::span<const std::uint64_t> keys);

}  // namespace lockstep::data
