#include "base/hash.h"

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace lockstep {
namespace {

Hash128 from(const XXH128_hash_t& hash) { return {.high = hash.high64, .low = hash.low64}; }

}  // namespace

std::string to_hex(const Hash128& hash) { return fmt::format("{:016x}{:016x}", hash.high, hash.low); }

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
