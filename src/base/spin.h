// A thread looks for a short time before it sleeps: an event within microseconds then needs no system call.
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
