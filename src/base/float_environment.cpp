#include "base/float_environment.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#elif !defined(__aarch64__)
#error "say here how this processor rounds to nearest even and keeps denormals"
#endif

namespace lockstep {
namespace {

using State = FloatEnvironment::State;

// The functions stand in a file of their own, so that no arithmetic of a caller is moved across a change.
#if defined(__x86_64__)

constexpr State kLaw{0x1f80, 0x037f};   // all exceptions masked, and nothing else
constexpr std::uint64_t kNotes = 0x3f;  // of exceptions that happened

State get() {
  std::uint16_t x87 = 0;
  asm volatile("fnstcw %0" : "=m"(x87));
  return {_mm_getcsr(), x87};
}

// From one state to another; the older unit is slow to set, and hardly ever needs it.
void change(const State& from, const State& to) {
  asm volatile("" ::: "memory");
  _mm_setcsr(static_cast<unsigned>(to.vectors));
  if (from.x87 != to.x87) {
    const auto x87 = static_cast<std::uint16_t>(to.x87);
    asm volatile("fldcw %0" ::"m"(x87));
  }
  asm volatile("" ::: "memory");
}

#else

constexpr State kLaw{};
constexpr std::uint64_t kNotes = 0;  // they have a register of their own

State get() {
  std::uint64_t control = 0;
  asm volatile("mrs %0, fpcr" : "=r"(control));
  return {control};
}

void change(const State&, const State& to) { asm volatile("msr fpcr, %0" ::"r"(to.vectors) : "memory"); }

#endif

}  // namespace

FloatEnvironment::FloatEnvironment() : before_(get()) { change(before_, kLaw); }
FloatEnvironment::~FloatEnvironment() { change(get(), before_); }

State FloatEnvironment::current() {
  State state = get();
  state.vectors &= ~kNotes;
  return state;
}

}  // namespace lockstep
