#include "data/shuffle.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>

#include "base/random.h"

namespace lockstep::data {
namespace {

constexpr int kMaxBucketBits = 16;  // 2^16 counters stay in the second-level cache

struct Entry {
  std::uint64_t key;
  std::uint32_t index;
  auto operator<=>(const Entry&) const = default;
};

}  // namespace

// Random keys fill 2^b buckets of their top b bits evenly. One counting pass puts every entry into its
// bucket; about one entry is in each, so sorting the buckets costs next to nothing: O(n), against O(n log n)
// of a plain sort. Keys that are not spread only make it a plain sort again. Checked against one in
// shuffle_test.cpp.
std::vector<std::uint32_t> order_of_keys(std::span<const std::uint64_t> keys) {
  const int bits = std::clamp(static_cast<int>(std::bit_width(keys.size())), 1, kMaxBucketBits);
  const auto bucket_of = [bits](std::uint64_t key) { return static_cast<std::size_t>(key >> (64 - bits)); };

  // where each bucket starts
  std::vector<std::uint32_t> next((std::size_t{1} << bits) + 1);
  for (const std::uint64_t key : keys) ++next[bucket_of(key) + 1];
  for (std::size_t bucket = 1; bucket < next.size(); ++bucket) next[bucket] += next[bucket - 1];

  // every entry into its bucket; next[b] becomes the end of bucket b
  std::vector<Entry> entries(keys.size());
  for (std::uint32_t i = 0; i < keys.size(); ++i) entries[next[bucket_of(keys[i])]++] = {keys[i], i};

  auto begin = entries.begin();
  for (std::size_t bucket = 0; bucket + 1 < next.size(); ++bucket) {
    const auto end = entries.begin() + next[bucket];
    if (end - begin > 1) std::sort(begin, end);
    begin = end;
  }

  std::vector<std::uint32_t> order(entries.size());
  std::transform(entries.begin(), entries.end(), order.begin(),
                 [](const Entry& entry) { return entry.index; });
  return order;
}

std::vector<std::uint32_t> epoch_order(std::uint64_t seed, std::uint32_t epoch, std::uint32_t count) {
  const std::uint32_t stream = stream_id("shuffle:train");
  std::vector<std::uint64_t> keys(count);
  for (std::size_t i = 0; i < keys.size(); i += 2) {
    const std::array<std::uint32_t, 4> words = random_block(seed, i / 2, epoch, stream);
    keys[i] = words[0] | std::uint64_t{words[1]} << 32;
    if (i + 1 < keys.size()) keys[i + 1] = words[2] | std::uint64_t{words[3]} << 32;
  }
  return order_of_keys(keys);
}

}  // namespace lockstep::data
