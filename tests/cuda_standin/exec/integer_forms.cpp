// Integer arithmetic.
#include <algorithm>
#include <limits>
#include <type_traits>

#include "exec/lanewise.h"

namespace standin {
namespace {

template <class T>
using Unsigned = std::make_unsigned_t<T>;

template <class T>
struct Twice;
template <>
struct Twice<std::int16_t> {
  using Type = std::int32_t;
};
template <>
struct Twice<std::uint16_t> {
  using Type = std::uint32_t;
};
template <>
struct Twice<std::int32_t> {
  using Type = std::int64_t;
};
template <>
struct Twice<std::uint32_t> {
  using Type = std::uint64_t;
};
__extension__ typedef __int128 Signed128;
__extension__ typedef unsigned __int128 Unsigned128;
template <>
struct Twice<std::int64_t> {
  using Type = Signed128;
};
template <>
struct Twice<std::uint64_t> {
  using Type = Unsigned128;
};
template <class T>
using Wide = typename Twice<T>::Type;

// Wrapping arithmetic: computed unsigned, at least 32 bits wide so that nothing is promoted to a signed int.
template <class T>
using Modular = std::common_type_t<Unsigned<T>, unsigned>;

struct Add {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(static_cast<Modular<T>>(a) + static_cast<Modular<T>>(b));
  }
};
struct Subtract {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(static_cast<Modular<T>>(a) - static_cast<Modular<T>>(b));
  }
};
struct MultiplyLow {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(static_cast<Modular<T>>(a) * static_cast<Modular<T>>(b));
  }
};
struct MultiplyHigh {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(Wide<T>(a) * Wide<T>(b) >> kBits<T>);
  }
};
struct MultiplyWide {
  template <class T>
  static Wide<T> of(T a, T b) {
    return static_cast<Wide<T>>(Wide<T>(a) * Wide<T>(b));
  }
};
struct MultiplyAddLow {
  template <class T>
  static T of(T a, T b, T c) {
    return Add::of(MultiplyLow::of(a, b), c);
  }
};
struct MultiplyAddHigh {
  template <class T>
  static T of(T a, T b, T c) {
    return Add::of(MultiplyHigh::of(a, b), c);
  }
};
struct MultiplyAddWide {
  template <class T>
  static Wide<T> of(T a, T b, Wide<T> c) {
    return Add::of(MultiplyWide::of(a, b), c);
  }
};
// PTX leaves division by zero open; all ones is what the hardware gives.
struct Divide {
  template <class T>
  static T of(T a, T b) {
    if (b == 0) return static_cast<T>(~T{0});
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return Subtract::of(T{0}, a);
    return static_cast<T>(a / b);
  }
};
struct Remainder {
  template <class T>
  static T of(T a, T b) {
    if (b == 0) return a;
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return 0;
    return static_cast<T>(a % b);
  }
};
struct Minimum {
  template <class T>
  static T of(T a, T b) {
    return b < a ? b : a;
  }
};
struct Maximum {
  template <class T>
  static T of(T a, T b) {
    return a < b ? b : a;
  }
};
struct Absolute {
  template <class T>
  static T of(T a) {
    return a < 0 ? Subtract::of(T{0}, a) : a;
  }
};
struct Negate {
  template <class T>
  static T of(T a) {
    return Subtract::of(T{0}, a);
  }
};

}  // namespace

void add_integer_forms(Forms& forms) {
  add_family<Add, S16, S32, S64, U16, U32, U64>(forms, "add");
  add_family<Subtract, S16, S32, S64, U16, U32, U64>(forms, "sub");
  add_family<MultiplyLow, S16, S32, S64, U16, U32, U64>(forms, "mul.lo");
  add_family<MultiplyHigh, S16, S32, S64, U16, U32, U64>(forms, "mul.hi");
  add_family<MultiplyWide, S16, S32, U16, U32>(forms, "mul.wide");
  add_family<MultiplyAddLow, S16, S32, S64, U16, U32, U64>(forms, "mad.lo");
  add_family<MultiplyAddHigh, S16, S32, S64, U16, U32, U64>(forms, "mad.hi");
  add_family<MultiplyAddWide, S16, S32, U16, U32>(forms, "mad.wide");
  add_family<Divide, S16, S32, S64, U16, U32, U64>(forms, "div");
  add_family<Remainder, S16, S32, S64, U16, U32, U64>(forms, "rem");
  add_family<Minimum, S16, S32, S64, U16, U32, U64>(forms, "min");
  add_family<Maximum, S16, S32, S64, U16, U32, U64>(forms, "max");
  add_family<Absolute, S16, S32, S64>(forms, "abs");
  add_family<Negate, S16, S32, S64>(forms, "neg");
}

}  // namespace standin
