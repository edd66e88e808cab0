// Bits: logic, shifts, fields, permutes, moves and selections.
#include <bit>
#include <type_traits>

#include "exec/lanewise.h"

namespace standin {
namespace {

template <class T>
constexpr auto raw(T a) {
  if constexpr (std::is_enum_v<T>) {
    return static_cast<std::uint32_t>(a);
  } else {
    return a;
  }
}

struct And {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(raw(a) & raw(b));
  }
};
struct Or {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(raw(a) | raw(b));
  }
};
struct Xor {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(raw(a) ^ raw(b));
  }
};
struct Not {
  template <class T>
  static T of(T a) {
    return static_cast<T>(~raw(a));
  }
};
struct LogicalNot {
  template <class T>
  static T of(T a) {
    return static_cast<T>(a == 0);
  }
};
struct Move {
  template <class T>
  static T of(T a) {
    return a;
  }
};
struct Select {
  template <class T>
  static T of(T a, T b, Pred c) {
    return c != Pred::no ? a : b;
  }
};
struct SelectBySign {
  template <class T>
  static T of(T a, T b, std::int32_t c) {
    return c >= 0 ? a : b;
  }
};
struct SelectByFloat {
  template <class T>
  static T of(T a, T b, float c) {
    return c >= 0 ? a : b;
  }
};

// Amounts beyond the width clamp.
struct ShiftLeft {
  template <class T>
  static T of(T a, std::uint32_t b) {
    return b >= static_cast<std::uint32_t>(kBits<T>) ? T{0}
                                                     : static_cast<T>(static_cast<std::uint64_t>(a) << b);
  }
};
struct ShiftRight {
  template <class T>
  static T of(T a, std::uint32_t b) {
    constexpr std::uint32_t last = static_cast<std::uint32_t>(kBits<T>) - 1;
    if (std::is_unsigned_v<T> && b > last) return 0;
    return static_cast<T>(a >> (b > last ? last : b));
  }
};

std::uint32_t funnel_left_wrap(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const std::uint64_t both = static_cast<std::uint64_t>(b) << 32 | a;
  return static_cast<std::uint32_t>(both << (c & 31) >> 32);
}
std::uint32_t funnel_left_clamp(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return c >= 32 ? a : funnel_left_wrap(a, b, c);
}
std::uint32_t funnel_right_wrap(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const std::uint64_t both = static_cast<std::uint64_t>(b) << 32 | a;
  return static_cast<std::uint32_t>(both >> (c & 31));
}
std::uint32_t funnel_right_clamp(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return c >= 32 ? b : funnel_right_wrap(a, b, c);
}

struct ExtractField {
  template <class T>
  static T of(T a, std::uint32_t b, std::uint32_t c) {
    constexpr int width = kBits<T>;
    const int position = static_cast<int>(b & 0xff);
    const int length = static_cast<int>(c & 0xff);
    using U = std::make_unsigned_t<T>;
    const int sign_at = position + length - 1 < width - 1 ? position + length - 1 : width - 1;
    const bool sign = std::is_signed_v<T> && length != 0 && ((static_cast<U>(a) >> sign_at) & 1) != 0;
    U result = position >= width ? U{0} : static_cast<U>(static_cast<U>(a) >> position);
    const int valid = length < width - position ? length : width - position;  // bits that come from a
    const int kept = valid < 0 ? 0 : valid;
    const U mask = kept >= width ? static_cast<U>(~U{0}) : static_cast<U>((U{1} << kept) - 1);
    result &= mask;
    return static_cast<T>(sign ? result | static_cast<U>(~mask) : result);
  }
};
struct InsertField {
  template <class T>
  static T of(T a, T b, std::uint32_t c, std::uint32_t d) {
    constexpr std::uint32_t width = static_cast<std::uint32_t>(kBits<T>);
    const std::uint32_t position = c & 0xff;
    const std::uint32_t length = d & 0xff;
    if (position >= width || length == 0) return b;
    const T mask = static_cast<T>((length >= width ? ~T{0} : (T{1} << length) - 1) << position);
    return (b & ~mask) | ((a << position) & mask);
  }
};
struct CountOnes {
  template <class T>
  static std::uint32_t of(T a) {
    return static_cast<std::uint32_t>(std::popcount(a));
  }
};
struct CountLeadingZeros {
  template <class T>
  static std::uint32_t of(T a) {
    return static_cast<std::uint32_t>(std::countl_zero(a));
  }
};
struct Reverse {
  template <class T>
  static T of(T a) {
    T result = 0;
    for (int i = 0; i < kBits<T>; ++i) result |= ((a >> i) & 1) << (kBits<T> - 1 - i);
    return result;
  }
};
struct FindLeading {  // the highest bit that differs from the sign
  template <class T>
  static std::uint32_t of(T a) {
    using U = std::make_unsigned_t<T>;
    const U bits = static_cast<U>(a < 0 ? ~a : a);
    return bits == 0 ? ~0u : static_cast<std::uint32_t>(kBits<T> - 1 - std::countl_zero(bits));
  }
};

std::uint32_t permute(std::uint32_t a, std::uint32_t b, std::uint32_t selector) {
  const std::uint64_t both = static_cast<std::uint64_t>(b) << 32 | a;
  std::uint32_t result = 0;
  for (std::uint32_t i = 0; i < 4; ++i) {
    const std::uint32_t pick = selector >> (4 * i) & 0xf;
    std::uint32_t byte = static_cast<std::uint32_t>(both >> (8 * (pick & 7))) & 0xff;
    if ((pick & 8) != 0) byte = (byte & 0x80) != 0 ? 0xff : 0;
    result |= byte << (8 * i);
  }
  return result;
}

std::uint32_t logic3(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t table) {
  std::uint32_t result = 0;
  for (std::uint32_t k = 0; k < 8; ++k) {
    const std::uint32_t term = ((k & 4) != 0 ? a : ~a) & ((k & 2) != 0 ? b : ~b) & ((k & 1) != 0 ? c : ~c);
    result |= term & (0u - (table >> k & 1));
  }
  return result;
}

std::uint32_t pack16(std::uint16_t low, std::uint16_t high) {
  return static_cast<std::uint32_t>(high) << 16 | low;
}
std::uint64_t pack32(std::uint32_t low, std::uint32_t high) {
  return static_cast<std::uint64_t>(high) << 32 | low;
}
std::uint16_t low16(std::uint32_t a) { return static_cast<std::uint16_t>(a); }
std::uint16_t high16(std::uint32_t a) { return static_cast<std::uint16_t>(a >> 16); }
std::uint32_t low32(std::uint64_t a) { return static_cast<std::uint32_t>(a); }
std::uint32_t high32(std::uint64_t a) { return static_cast<std::uint32_t>(a >> 32); }

}  // namespace

void add_bit_forms(Forms& forms) {
  add_family<And, P, B16, B32, B64>(forms, "and");
  add_family<Or, P, B16, B32, B64>(forms, "or");
  add_family<Xor, P, B16, B32, B64>(forms, "xor");
  add_family<Not, P, B16, B32, B64>(forms, "not");
  add_family<LogicalNot, B16, B32, B64>(forms, "cnot");
  add_family<Move, P, B16, B32, B64, U16, U32, U64, S16, S32, S64, F32, F64>(forms, "mov");
  add_family<Select, B16, B32, B64, U16, U32, U64, S16, S32, S64, F32, F64>(forms, "selp");
  for (const char* const type :
       {"b16", "u16", "s16", "b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64"}) {
    const bool narrow = std::string_view(type).ends_with("16");
    const bool wide = std::string_view(type).ends_with("64");
    const std::string name = std::string("slct.") + type;
    forms.emplace(name + ".s32", narrow ? Lanewise<&SelectBySign::of<std::uint16_t>>::form()
                                 : wide ? Lanewise<&SelectBySign::of<std::uint64_t>>::form()
                                        : Lanewise<&SelectBySign::of<std::uint32_t>>::form());
    forms.emplace(name + ".f32", narrow ? Lanewise<&SelectByFloat::of<std::uint16_t>>::form()
                                 : wide ? Lanewise<&SelectByFloat::of<std::uint64_t>>::form()
                                        : Lanewise<&SelectByFloat::of<std::uint32_t>>::form());
  }
  add_family<ShiftLeft, B16, B32, B64>(forms, "shl");
  add_family<ShiftRight, B16, B32, B64, U16, U32, U64, S16, S32, S64>(forms, "shr");
  forms.emplace("shf.l.wrap.b32", Lanewise<&funnel_left_wrap>::form());
  forms.emplace("shf.l.clamp.b32", Lanewise<&funnel_left_clamp>::form());
  forms.emplace("shf.r.wrap.b32", Lanewise<&funnel_right_wrap>::form());
  forms.emplace("shf.r.clamp.b32", Lanewise<&funnel_right_clamp>::form());
  add_family<ExtractField, S32, S64, U32, U64>(forms, "bfe");
  add_family<InsertField, B32, B64>(forms, "bfi");
  add_family<CountOnes, B32, B64>(forms, "popc");
  add_family<CountLeadingZeros, B32, B64>(forms, "clz");
  add_family<Reverse, B32, B64>(forms, "brev");
  add_family<FindLeading, S32, S64, U32, U64>(forms, "bfind");
  forms.emplace("prmt.b32", Lanewise<&permute>::form());
  forms.emplace("lop3.b32", Lanewise<&logic3>::form());
  // no instructions of PTX: the parts of vector moves
  forms.emplace("pack.b32", Lanewise<&pack16>::form());
  forms.emplace("pack.b64", Lanewise<&pack32>::form());
  forms.emplace("low.b32", Lanewise<&low16>::form());
  forms.emplace("high.b32", Lanewise<&high16>::form());
  forms.emplace("low.b64", Lanewise<&low32>::form());
  forms.emplace("high.b64", Lanewise<&high32>::form());
}

}  // namespace standin
