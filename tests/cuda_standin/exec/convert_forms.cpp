// Conversions between integers of all widths, f32 and f64.
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "exec/lanewise.h"

namespace standin {
namespace {

template <class D, class S>
D convert_integer(S a) {
  return static_cast<D>(a);
}

// Integer to integer with saturation.
template <class D, class S>
D saturate_integer(S a) {
  if constexpr (std::is_signed_v<S>) {
    if (a < 0) {
      if constexpr (std::is_unsigned_v<D>) return 0;
      const auto value = static_cast<std::int64_t>(a);
      const auto lowest = static_cast<std::int64_t>(std::numeric_limits<D>::min());
      return static_cast<D>(value < lowest ? lowest : value);
    }
  }
  const auto value = static_cast<std::uint64_t>(a);
  const auto highest = static_cast<std::uint64_t>(std::numeric_limits<D>::max());
  return static_cast<D>(value > highest ? highest : value);
}

template <class D, class S>
D round_to_float(S a) {
  return static_cast<D>(a);
}

struct Nearest {
  template <class T>
  static T of(T a) {
    return std::nearbyint(a);
  }
};
struct TowardZero {
  template <class T>
  static T of(T a) {
    return std::trunc(a);
  }
};
struct Down {
  template <class T>
  static T of(T a) {
    return std::floor(a);
  }
};
struct Up {
  template <class T>
  static T of(T a) {
    return std::ceil(a);
  }
};

// Float to integer saturates. No number gives 0, or the sign bit alone where either side has 64 bits.
template <class Rounding, class D, class S>
D float_to_integer(S a) {
  const S rounded = Rounding::of(a);
  constexpr bool wide = sizeof(S) == 8 || sizeof(D) == 8;
  if (rounded != rounded) {
    return wide ? static_cast<D>(std::make_unsigned_t<D>{1} << (kBits<D> - 1)) : D{0};
  }
  // 2^bits of the largest value, which every S holds exactly
  const S beyond = std::ldexp(S{1}, std::numeric_limits<D>::digits);
  if (rounded >= beyond) return std::numeric_limits<D>::max();
  if (rounded < static_cast<S>(std::numeric_limits<D>::min())) return std::numeric_limits<D>::min();
  return static_cast<D>(rounded);
}

double widen(float a) { return static_cast<double>(a); }
float narrow(double a) { return static_cast<float>(a); }

template <class T>
T saturate_float(T a) {
  return a > T{0} ? (a < T{1} ? a : T{1}) : T{0};
}

template <class D, class S>
void add_integer_pair(Forms& forms) {
  using To = typename D::Value;
  using From = typename S::Value;
  const std::string types = std::string(D::name) + "." + std::string(S::name);
  forms.emplace("cvt." + types, Lanewise<&convert_integer<To, From>>::form());
  forms.emplace("cvt.sat." + types, Lanewise<&saturate_integer<To, From>>::form());
}

template <class D>
void add_to_integer(Forms& forms) {
  add_integer_pair<D, U8>(forms);
  add_integer_pair<D, U16>(forms);
  add_integer_pair<D, U32>(forms);
  add_integer_pair<D, U64>(forms);
  add_integer_pair<D, S8>(forms);
  add_integer_pair<D, S16>(forms);
  add_integer_pair<D, S32>(forms);
  add_integer_pair<D, S64>(forms);
}

template <class I, class F>
void add_integer_and_float(Forms& forms) {
  using Int = typename I::Value;
  using Float = typename F::Value;
  const std::string to_integer = std::string(I::name) + "." + std::string(F::name);
  forms.emplace("cvt.rni." + to_integer, Lanewise<&float_to_integer<Nearest, Int, Float>>::form());
  forms.emplace("cvt.rzi." + to_integer, Lanewise<&float_to_integer<TowardZero, Int, Float>>::form());
  forms.emplace("cvt.rmi." + to_integer, Lanewise<&float_to_integer<Down, Int, Float>>::form());
  forms.emplace("cvt.rpi." + to_integer, Lanewise<&float_to_integer<Up, Int, Float>>::form());
  forms.emplace("cvt.rn." + std::string(F::name) + "." + std::string(I::name),
                Lanewise<&round_to_float<Float, Int>>::form());
}

template <class F>
void add_with_float(Forms& forms) {
  add_integer_and_float<U8, F>(forms);
  add_integer_and_float<U16, F>(forms);
  add_integer_and_float<U32, F>(forms);
  add_integer_and_float<U64, F>(forms);
  add_integer_and_float<S8, F>(forms);
  add_integer_and_float<S16, F>(forms);
  add_integer_and_float<S32, F>(forms);
  add_integer_and_float<S64, F>(forms);
  const std::string same = std::string(F::name) + "." + std::string(F::name);
  using Float = typename F::Value;
  forms.emplace("cvt.rni." + same, Lanewise<&Nearest::of<Float>>::form());
  forms.emplace("cvt.rzi." + same, Lanewise<&TowardZero::of<Float>>::form());
  forms.emplace("cvt.rmi." + same, Lanewise<&Down::of<Float>>::form());
  forms.emplace("cvt.rpi." + same, Lanewise<&Up::of<Float>>::form());
  forms.emplace("cvt.sat." + same, Lanewise<&saturate_float<Float>>::form());
}

}  // namespace

void add_convert_forms(Forms& forms) {
  add_to_integer<U8>(forms);
  add_to_integer<U16>(forms);
  add_to_integer<U32>(forms);
  add_to_integer<U64>(forms);
  add_to_integer<S8>(forms);
  add_to_integer<S16>(forms);
  add_to_integer<S32>(forms);
  add_to_integer<S64>(forms);
  add_with_float<F32>(forms);
  add_with_float<F64>(forms);
  forms.emplace("cvt.f64.f32", Lanewise<&widen>::form());
  forms.emplace("cvt.rn.f32.f64", Lanewise<&narrow>::form());
}

}  // namespace standin
