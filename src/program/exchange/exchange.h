// Who owns which sums, and which sums travel together: what tells one exchange of data parallelism from
// another.
//
// Every rank has partial sums of all gradients over its own packs, a few complete subtrees of the pack tree
// each. For every element one rank is the owner: it receives the subtrees of the others, joins them in the
// law's order, divides by the examples, and sends the result to all ranks. sharded.cpp and star.cpp choose
// the owners; data_parallel.cpp writes the lists.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::program::exchange {

inline constexpr std::size_t kLineFloats = 16;  // of a cache line: ranks do not share one

// Elements [first, first + count) of one of the program's sums.
struct Range {
  int sum = 0;
  std::size_t first = 0, count = 0;
  bool operator==(const Range&) const = default;
};

// Part of a sum and the rank that owns it.
struct Shard {
  Range range = {};
  int owner = 0;
  bool operator==(const Shard&) const = default;
};

// One row a kind of exchange.
struct Kind {
  std::string_view name;
  std::vector<Shard> (*shards)(std::span<const std::size_t> sums, int ranks);
};
std::span<const Kind> kinds();
const Kind& kind_named(std::string_view name);  // throws Error(usage) with the nearest name

// 64 KB of sums: waking a thread takes as long as copying them.
inline constexpr std::size_t kSmallestBucket = 16 * 1024;

// Sums whose exchange starts together, once all of them are complete: [first, last) in the order they become
// complete. Small ones go with their neighbours, because a message has a price of its own.
struct Bucket {
  int first = 0, last = 0;
  bool operator==(const Bucket&) const = default;
};
std::vector<Bucket> buckets_of(std::span<const std::size_t> sums, std::size_t smallest = kSmallestBucket);

}  // namespace lockstep::program::exchange
