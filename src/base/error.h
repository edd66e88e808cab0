// Throwing and checking. The world fails: throw Error (lockstep/error.h) with the facts and the remedy, in
// one line. We fail: check(), which is a defect report.
#pragma once
#include <cstddef>
#include <string>
#include <utility>

#include <fmt/core.h>
#include <lockstep/error.h>

namespace lockstep {

// A text with {} in it, which the compiler holds against what goes there.
template <class... Args>
struct MessageFormat {
  template <std::size_t N>
  consteval MessageFormat(const char (&literal)[N]) : text(literal) {}

  fmt::format_string<Args...> text;
};

template <class... Args>
Error::Error(Fault fault, MessageFormat<std::type_identity_t<Args>...> format, Args&&... args)
    : std::runtime_error(fmt::format(format.text, std::forward<Args>(args)...)), fault_(fault) {}

// A condition that only a defect of Lockstep can break.
template <class... Args>
void check(bool condition, fmt::format_string<Args...> format, Args&&... args) {
  if (!condition) throw Error(Fault::ours, "defect: {}", fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace lockstep
