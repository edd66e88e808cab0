// A library that changes the floating-point environment when it is loaded, as those do that are made for fast
// mathematics. Tests open it.
#include <cfenv>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

extern "C" __attribute__((constructor, visibility("default"))) void flush_denormals_and_round_down() {
  std::fesetround(FE_DOWNWARD);
#if defined(__x86_64__)
  _mm_setcsr(_mm_getcsr() | 0x8040);
#endif
}
