// Comparisons: setp to a predicate and set to a number.
#include <cmath>
#include <limits>

#include "exec/lanewise.h"

namespace standin {
namespace {

struct Equal {
  static constexpr bool holds(auto a, auto b) { return a == b; }
};
struct NotEqual {
  static constexpr bool holds(auto a, auto b) { return a < b || a > b; }
};  // ordered
struct Less {
  static constexpr bool holds(auto a, auto b) { return a < b; }
};
struct LessEqual {
  static constexpr bool holds(auto a, auto b) { return a <= b; }
};
struct Greater {
  static constexpr bool holds(auto a, auto b) { return a > b; }
};
struct GreaterEqual {
  static constexpr bool holds(auto a, auto b) { return a >= b; }
};
struct Ordered {
  static constexpr bool holds(auto a, auto b) { return a == a && b == b; }
};
struct Unordered {
  static constexpr bool holds(auto a, auto b) { return a != a || b != b; }
};

template <class C>
struct OrUnordered {
  static constexpr bool holds(auto a, auto b) { return C::holds(a, b) || a != a || b != b; }
};
template <class C>
struct FlushedBefore {
  static float flush(float a) { return std::fabs(a) < std::numeric_limits<float>::min() ? 0.0f : a; }
  static double flush(double a) { return a; }
  static bool holds(auto a, auto b) { return C::holds(flush(a), flush(b)); }
};

template <class C>
struct ToPredicate {
  template <class T>
  static Pred of(T a, T b) {
    return C::holds(a, b) ? Pred::yes : Pred::no;
  }
};
template <class C>
struct ToMask {
  template <class T>
  static std::uint32_t of(T a, T b) {
    return C::holds(a, b) ? ~0u : 0u;
  }
};
template <class C>
struct ToFloat {
  template <class T>
  static float of(T a, T b) {
    return C::holds(a, b) ? 1.0f : 0.0f;
  }
};

template <class C, class... Types>
void add_comparison(Forms& forms, const std::string& name) {
  add_family<ToPredicate<C>, Types...>(forms, "setp." + name);
  add_family<ToMask<C>, Types...>(forms, "set." + name + ".u32");
  add_family<ToMask<C>, Types...>(forms, "set." + name + ".s32");
  add_family<ToFloat<C>, Types...>(forms, "set." + name + ".f32");
}

template <template <class> class Before>
void add_float_comparisons(Forms& forms) {
  add_comparison<Before<Equal>, F32, F64>(forms, "eq");
  add_comparison<Before<NotEqual>, F32, F64>(forms, "ne");
  add_comparison<Before<Less>, F32, F64>(forms, "lt");
  add_comparison<Before<LessEqual>, F32, F64>(forms, "le");
  add_comparison<Before<Greater>, F32, F64>(forms, "gt");
  add_comparison<Before<GreaterEqual>, F32, F64>(forms, "ge");
  add_comparison<Before<OrUnordered<Equal>>, F32, F64>(forms, "equ");
  add_comparison<Before<OrUnordered<NotEqual>>, F32, F64>(forms, "neu");
  add_comparison<Before<OrUnordered<Less>>, F32, F64>(forms, "ltu");
  add_comparison<Before<OrUnordered<LessEqual>>, F32, F64>(forms, "leu");
  add_comparison<Before<OrUnordered<Greater>>, F32, F64>(forms, "gtu");
  add_comparison<Before<OrUnordered<GreaterEqual>>, F32, F64>(forms, "geu");
  add_comparison<Before<Ordered>, F32, F64>(forms, "num");
  add_comparison<Before<Unordered>, F32, F64>(forms, "nan");
}

template <class C>
struct AsIs : C {};

}  // namespace

void add_compare_forms(Forms& forms, Denormals denormals) {
  add_comparison<Equal, B16, B32, B64, S16, S32, S64, U16, U32, U64>(forms, "eq");
  add_comparison<NotEqual, B16, B32, B64, S16, S32, S64, U16, U32, U64>(forms, "ne");
  add_comparison<Less, S16, S32, S64, U16, U32, U64>(forms, "lt");
  add_comparison<LessEqual, S16, S32, S64, U16, U32, U64>(forms, "le");
  add_comparison<Greater, S16, S32, S64, U16, U32, U64>(forms, "gt");
  add_comparison<GreaterEqual, S16, S32, S64, U16, U32, U64>(forms, "ge");
  add_comparison<Less, U16, U32, U64>(forms, "lo");
  add_comparison<LessEqual, U16, U32, U64>(forms, "ls");
  add_comparison<Greater, U16, U32, U64>(forms, "hi");
  add_comparison<GreaterEqual, U16, U32, U64>(forms, "hs");
  if (denormals == Denormals::flushed) {
    add_float_comparisons<FlushedBefore>(forms);
  } else {
    add_float_comparisons<AsIs>(forms);
  }
}

}  // namespace standin
