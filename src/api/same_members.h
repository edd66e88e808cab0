// A struct made of the members of another one that has as many in the same order: how a layer of the library
// becomes a layer of the rooms, and back, without a line for each kind.
#pragma once
#include <cstddef>
#include <optional>
#include <tuple>

namespace lockstep {
inline namespace api {

template <class Member>
constexpr bool kOptional = false;
template <class Member>
constexpr bool kOptional<std::optional<Member>> = true;

// Stands for a member of any type while members are counted. An optional is made of what it would hold.
struct AnyMember {
  template <class Member>
    requires(!kOptional<Member>)
  operator Member() const;  // NOLINT(google-explicit-constructor)
};

// How many members an aggregate has: as many as it can be made of.
template <class Struct, class... Any>
constexpr std::size_t member_count() {
  if constexpr (requires { Struct{Any{}..., AnyMember{}}; }) {
    return member_count<Struct, Any..., AnyMember>();
  } else {
    return sizeof...(Any);
  }
}

// References to all members.
template <class Struct>
auto members_of(const Struct& from) {
  constexpr std::size_t kCount = member_count<Struct>();
  static_assert(kCount <= 8, "a layer of more members; add it below");
  if constexpr (kCount == 0) {
    return std::tuple<>();
  } else if constexpr (kCount == 1) {
    const auto& [a] = from;
    return std::tie(a);
  } else if constexpr (kCount == 2) {
    const auto& [a, b] = from;
    return std::tie(a, b);
  } else if constexpr (kCount == 3) {
    const auto& [a, b, c] = from;
    return std::tie(a, b, c);
  } else if constexpr (kCount == 4) {
    const auto& [a, b, c, d] = from;
    return std::tie(a, b, c, d);
  } else if constexpr (kCount == 5) {
    const auto& [a, b, c, d, e] = from;
    return std::tie(a, b, c, d, e);
  } else if constexpr (kCount == 6) {
    const auto& [a, b, c, d, e, f] = from;
    return std::tie(a, b, c, d, e, f);
  } else if constexpr (kCount == 7) {
    const auto& [a, b, c, d, e, f, g] = from;
    return std::tie(a, b, c, d, e, f, g);
  } else {
    const auto& [a, b, c, d, e, f, g, h] = from;
    return std::tie(a, b, c, d, e, f, g, h);
  }
}

// `convert` turns a member of `from` into a member of To.
template <class To, class From>
To with_members_of(const From& from, const auto& convert) {
  static_assert(member_count<To>() == member_count<From>(), "both have the same members in the same order");
  return std::apply([&](const auto&... members) { return To{convert(members)...}; }, members_of(from));
}

}  // namespace api
}  // namespace lockstep
