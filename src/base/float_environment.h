// The floating-point environment that the law asks for (docs/arithmetic.md, "Numbers"): rounding to nearest
// even, denormals kept, no exception that traps. A host program, or a library that it loads, may have set
// another one for a thread, and new threads inherit it.
#pragma once
#include <cstdint>

namespace lockstep {

// Sets the law's environment on the calling thread; the destructor gives back the one that was there.
// Code that computes makes one each time it takes up work: between two pieces of work a driver
// or a callback may change the environment again. Callbacks of a user run outside of it, in the user's own
// environment. Costs 0.1 microseconds.
class FloatEnvironment {
 public:
  FloatEnvironment();
  ~FloatEnvironment();
  FloatEnvironment(const FloatEnvironment&) = delete;
  FloatEnvironment& operator=(const FloatEnvironment&) = delete;

  // A processor's control registers; what the registers mean depends on the processor.
  struct State {
    std::uint64_t vectors = 0;  // what floats and doubles are computed by
    std::uint64_t x87 = 0;      // x86 only: no code of ours uses it, but the C library asks it how to round
    bool operator==(const State&) const = default;
  };
  // The calling thread's, without the notes that exceptions leave behind.
  static State current();

 private:
  const State before_;
};

}  // namespace lockstep
