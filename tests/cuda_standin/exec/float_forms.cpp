// Floating-point arithmetic, rounded to nearest and nothing else: what a device may compute differently is
// absent here, so that a module that uses it is refused.
#include <bit>
#include <cmath>
#include <limits>

#include "exec/lanewise.h"

namespace standin {
namespace {

// A result that is no number has these bits on every device.
float canonical(float a) { return a == a ? a : std::bit_cast<float>(0x7fffffffu); }
double canonical(double a) { return a; }

struct Kept {
  template <class T>
  static T of(T a) {
    return a;
  }
};
struct Flushed {
  static float of(float a) {
    return std::fabs(a) < std::numeric_limits<float>::min() ? std::copysign(0.0f, a) : a;
  }
  static double of(double a) { return a; }
};

template <class F>
struct Add {
  template <class T>
  static T of(T a, T b) {
    return canonical(F::of(F::of(a) + F::of(b)));
  }
};
template <class F>
struct Subtract {
  template <class T>
  static T of(T a, T b) {
    return canonical(F::of(F::of(a) - F::of(b)));
  }
};
template <class F>
struct Multiply {
  template <class T>
  static T of(T a, T b) {
    return canonical(F::of(F::of(a) * F::of(b)));
  }
};
template <class F>
struct Divide {
  template <class T>
  static T of(T a, T b) {
    return canonical(F::of(F::of(a) / F::of(b)));
  }
};
template <class F>
struct Fused {
  template <class T>
  static T of(T a, T b, T c) {
    return canonical(F::of(std::fma(F::of(a), F::of(b), F::of(c))));
  }
};
template <class F>
struct SquareRoot {
  template <class T>
  static T of(T a) {
    return canonical(F::of(std::sqrt(F::of(a))));
  }
};
template <class F>
struct Reciprocal {
  template <class T>
  static T of(T a) {
    return canonical(F::of(T{1} / F::of(a)));
  }
};
template <class F>
struct Minimum {  // a number wins against a NaN, and -0 is below +0
  template <class T>
  static T of(T a, T b) {
    const T x = F::of(a);
    const T y = F::of(b);
    const T smaller = x < y ? x : y < x ? y : std::signbit(x) ? x : y;
    return canonical(x != x ? y : y != y ? x : smaller);
  }
};
template <class F>
struct Maximum {
  template <class T>
  static T of(T a, T b) {
    const T x = F::of(a);
    const T y = F::of(b);
    const T larger = x > y ? x : y > x ? y : std::signbit(x) ? y : x;
    return canonical(x != x ? y : y != y ? x : larger);
  }
};
struct MinimumOrNan {
  static float of(float a, float b) { return a != a || b != b ? canonical(a + b) : Minimum<Kept>::of(a, b); }
};
struct MaximumOrNan {
  static float of(float a, float b) { return a != a || b != b ? canonical(a + b) : Maximum<Kept>::of(a, b); }
};
template <class F>
struct Negate {
  template <class T>
  static T of(T a) {
    return -F::of(a);
  }
};
template <class F>
struct Absolute {
  template <class T>
  static T of(T a) {
    return std::fabs(F::of(a));
  }
};
struct CopySign {  // the sign of the first on the second
  template <class T>
  static T of(T a, T b) {
    return std::copysign(b, a);
  }
};

template <class T>
constexpr Pred pred(T holds) {
  return holds ? Pred::yes : Pred::no;
}

struct IsFinite {
  template <class T>
  static Pred of(T a) {
    return pred(std::fabs(a) <= std::numeric_limits<T>::max());
  }
};
struct IsInfinite {
  template <class T>
  static Pred of(T a) {
    return pred(std::fabs(a) == std::numeric_limits<T>::infinity());
  }
};
struct IsNumber {
  template <class T>
  static Pred of(T a) {
    return pred(a == a);
  }
};
struct IsNotANumber {
  template <class T>
  static Pred of(T a) {
    return pred(a != a);
  }
};
struct IsNormal {
  template <class T>
  static Pred of(T a) {
    return pred(std::fabs(a) >= std::numeric_limits<T>::min() &&
                std::fabs(a) <= std::numeric_limits<T>::max());
  }
};
struct IsSubnormal {
  template <class T>
  static Pred of(T a) {
    return pred(std::fabs(a) < std::numeric_limits<T>::min() && a != T{0});
  }
};

template <class F>
void add_arithmetic(Forms& forms) {
  add_family<Add<F>, F32, F64>(forms, "add.rn");
  add_family<Subtract<F>, F32, F64>(forms, "sub.rn");
  add_family<Multiply<F>, F32, F64>(forms, "mul.rn");
  add_family<Divide<F>, F32, F64>(forms, "div.rn");
  add_family<Fused<F>, F32, F64>(forms, "fma.rn");
  add_family<SquareRoot<F>, F32, F64>(forms, "sqrt.rn");
  add_family<Reciprocal<F>, F32, F64>(forms, "rcp.rn");
  add_family<Minimum<F>, F32, F64>(forms, "min");
  add_family<Maximum<F>, F32, F64>(forms, "max");
  add_family<Negate<F>, F32>(forms, "neg");
  add_family<Absolute<F>, F32>(forms, "abs");
}

}  // namespace

void add_float_forms(Forms& forms, Denormals denormals) {
  if (denormals == Denormals::flushed) {
    add_arithmetic<Flushed>(forms);
  } else {
    add_arithmetic<Kept>(forms);
  }
  add_family<Negate<Kept>, F64>(forms, "neg");
  add_family<Absolute<Kept>, F64>(forms, "abs");
  forms.emplace("min.NaN.f32", Lanewise<&MinimumOrNan::of>::form());
  forms.emplace("max.NaN.f32", Lanewise<&MaximumOrNan::of>::form());
  add_family<CopySign, F32, F64>(forms, "copysign");
  add_family<IsFinite, F32, F64>(forms, "testp.finite");
  add_family<IsInfinite, F32, F64>(forms, "testp.infinite");
  add_family<IsNumber, F32, F64>(forms, "testp.number");
  add_family<IsNotANumber, F32, F64>(forms, "testp.notanumber");
  add_family<IsNormal, F32, F64>(forms, "testp.normal");
  add_family<IsSubnormal, F32, F64>(forms, "testp.subnormal");
}

}  // namespace standin
