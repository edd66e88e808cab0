// A short look before a long sleep: what comes within microseconds saves a trip through the kernel.
#pragma once

namespace lockstep {

template <class Ready>
bool spin_until(const Ready& ready) {
  constexpr int kSpins = 2000;  // some 50 us
  for (int i = 0; i < kSpins; ++i) {
    if (ready()) return true;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  return false;
}

}  // namespace lockstep
