// XXH3: fast, stable hashes of bytes. Not cryptographic.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace lockstep {

struct Hash128 {
  std::uint64_t high = 0, low = 0;
  bool operator==(const Hash128&) const = default;
};
std::string to_hex(const Hash128& hash);  // 32 hex digits, canonical (big endian) order

// The other way; nothing unless it is exactly what to_hex() gives: 32 digits, lower case.
std::optional<Hash128> from_hex(std::string_view text);

Hash128 hash128(std::span<const std::byte> bytes);
std::uint64_t hash64(std::string_view text);

// A hash over several pieces, as if they were one.
class Hasher128 {
 public:
  Hasher128();
  ~Hasher128();
  Hasher128(Hasher128&&) noexcept;
  Hasher128& operator=(Hasher128&&) noexcept;

  void add(std::span<const std::byte> bytes);
  Hash128 digest() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lockstep
