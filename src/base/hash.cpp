#include "base/hash.h"

#include <charconv>

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace lockstep {
namespace {

Hash128 from(const XXH128_hash_t& hash) { return {.high = hash.high64, .low = hash.low64}; }

}  // namespace

std::string to_hex(const Hash128& hash) { return fmt::format("{:016x}{:016x}", hash.high, hash.low); }

std::optional<Hash128> from_hex(std::string_view text) {
  if (text.size() != 32 || text.find_first_not_of("0123456789abcdef") != std::string_view::npos) return {};
  const char* const middle = text.data() + 16;
  Hash128 hash;
  std::from_chars(text.data(), middle, hash.high, 16);
  std::from_chars(middle, middle + 16, hash.low, 16);
  return hash;
}

Hash128 hash128(std::span<const std::byte> bytes) { return from(XXH3_128bits(bytes.data(), bytes.size())); }

std::uint64_t hash64(std::string_view text) { return XXH3_64bits(text.data(), text.size()); }

struct Hasher128::State {
  XXH3_state_t xxh;
};

Hasher128::Hasher128() : state_(std::make_unique<State>()) { XXH3_128bits_reset(&state_->xxh); }
Hasher128::~Hasher128() = default;
Hasher128::Hasher128(Hasher128&&) noexcept = default;
Hasher128& Hasher128::operator=(Hasher128&&) noexcept = default;

void Hasher128::add(std::span<const std::byte> bytes) {
  XXH3_128bits_update(&state_->xxh, bytes.data(), bytes.size());
}

Hash128 Hasher128::digest() const { return from(XXH3_128bits_digest(&state_->xxh)); }

}  // namespace lockstep
