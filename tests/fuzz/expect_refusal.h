// What every parser of outside bytes promises: it takes the input, or throws one Error of one line.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>

#include "base/error.h"

namespace lockstep::fuzz {

// A broken expectation ends the process, which is how a fuzzer is told.
inline void expect(bool condition) {
  if (!condition) std::abort();
}

// Any other exception than Error passes and ends the process as well.
template <class Action>
void accept_or_refuse(Fault fault, Action action) {
  try {
    action();
  } catch (const Error& error) {
    const std::string_view message = error.what();
    expect(error.fault() == fault && !message.empty());
    for (const char c : message) expect(static_cast<unsigned char>(c) >= 0x20);
  }
}

}  // namespace lockstep::fuzz
