// Floating-point environments that break the law, for tests that compute in one.
#pragma once
#include <cfenv>
#include <ostream>
#include <string_view>
#include <vector>

#include "base/float_environment.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace lockstep {

struct StrangeFloats {
  std::string_view name;
  int rounding = FE_TONEAREST;
  unsigned mxcsr = 0;  // bits of x86's control register
  unsigned fpcr = 0;   // bits of ARM's
};

inline std::ostream& operator<<(std::ostream& out, const StrangeFloats& floats) { return out << floats.name; }

// Every way in which a thread's own state changes a float.
inline std::vector<StrangeFloats> strange_floats() {
  std::vector<StrangeFloats> all{
      {"rounds up", FE_UPWARD}, {"rounds down", FE_DOWNWARD}, {"rounds toward zero", FE_TOWARDZERO}};
#if defined(__x86_64__)
  all.push_back({"flushes results that are denormal", FE_TONEAREST, 0x8000});
  all.push_back({"takes denormals for zero", FE_TONEAREST, 0x0040});
  all.push_back({"flushes, takes for zero and rounds down", FE_DOWNWARD, 0x8040});
#elif defined(__aarch64__)
  all.push_back({"flushes denormals", FE_TONEAREST, 0, 1u << 24});
#endif
  return all;
}

// Sets one of them on the calling thread.
inline void set_floats(const StrangeFloats& floats) {
  std::fesetround(floats.rounding);
#if defined(__x86_64__)
  _mm_setcsr((_mm_getcsr() & ~0x8040u) | floats.mxcsr);
#elif defined(__aarch64__)
  std::uint64_t control = FloatEnvironment::current().vectors;
  control = (control & ~(std::uint64_t{1} << 24)) | floats.fpcr;
  asm volatile("msr fpcr, %0" ::"r"(control));
#endif
}

// Sets one for as long as it lives, then what was there.
class InStrangeFloats {
 public:
  explicit InStrangeFloats(const StrangeFloats& floats) {
    std::fegetenv(&before_);
    set_floats(floats);
    set_ = FloatEnvironment::current();
  }
  ~InStrangeFloats() { std::fesetenv(&before_); }
  InStrangeFloats(const InStrangeFloats&) = delete;
  InStrangeFloats& operator=(const InStrangeFloats&) = delete;

  // Is the thread's environment still the one that was set?
  bool unchanged() const { return FloatEnvironment::current() == set_; }

 private:
  std::fenv_t before_{};
  FloatEnvironment::State set_;
};

}  // namespace lockstep
