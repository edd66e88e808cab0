// Is a declaration written by hand the same as the one in a library's header, as far as a call can tell?
#pragma once
#include <cstddef>
#include <type_traits>

namespace lockstep::gpu {

// Handles point to types that are never defined: a test says which of ours stands for which of theirs.
template <class Ours, class Theirs>
inline constexpr bool kSameHandle = std::is_same_v<Ours, Theirs>;

template <class T>
consteval std::size_t number_size() {
  if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) return sizeof(T);
  return 0;
}

// Numbers of one size count as the same: ours are plain where theirs are enumerations.
template <class Ours, class Theirs>
struct SameDeclaration
    : std::bool_constant<kSameHandle<Ours, Theirs> ||
                         (number_size<Ours>() != 0 && number_size<Ours>() == number_size<Theirs>())> {};

template <class Ours, class Theirs>
struct SameDeclaration<const Ours, const Theirs> : SameDeclaration<Ours, Theirs> {};

template <class Ours, class Theirs>
struct SameDeclaration<Ours*, Theirs*> : SameDeclaration<Ours, Theirs> {};

template <class OurResult, class... Ours, class TheirResult, class... Theirs>
  requires(sizeof...(Ours) == sizeof...(Theirs))
struct SameDeclaration<OurResult(Ours...), TheirResult(Theirs...)>
    : std::bool_constant<SameDeclaration<OurResult, TheirResult>::value &&
                         (SameDeclaration<Ours, Theirs>::value && ...)> {};

}  // namespace lockstep::gpu
