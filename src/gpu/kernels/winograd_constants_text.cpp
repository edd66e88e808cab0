#include "gpu/kernels/winograd_constants_text.h"

#include <cstddef>
#include <string_view>

#include <fmt/format.h>

#include "arithmetic/winograd_constants.h"
#include "base/hex_float.h"

namespace lockstep::gpu {
namespace {

using arithmetic::WinogradConstants;

std::string literal(float value) { return hex_float(value) + "f"; }

// "index == 0 ? first : index == 1 ? second : ... last"
template <class Entry, std::size_t size, class Print>
std::string choice(std::string_view index, const Entry (&entries)[size], Print print) {
  std::string text;
  for (std::size_t i = 0; i + 1 < size; ++i)
    text += fmt::format("{} == {} ? {} : ", index, i, print(entries[i]));
  return text + print(entries[size - 1]);
}

template <std::size_t size>
std::string row(const float (&values)[size]) {
  return choice("k", values, literal);
}

std::string function(std::string_view name, int n, std::string_view parameters, std::string_view value) {
  return fmt::format("INLINE float winograd_{}_{}({}) {{ return {}; }}\n", name, n, parameters, value);
}

template <std::size_t rows, std::size_t columns>
std::string table(std::string_view name, int n, const float (&values)[rows][columns]) {
  const auto bracketed = [](const float(&of_row)[columns]) { return "(" + row(of_row) + ")"; };
  return function(name, n, "int i, int k", choice("i", values, bracketed));
}

template <int n>
std::string constants() {
  using Constants = WinogradConstants<n>;
  return table("power", n, Constants::power) + function("z", n, "int k", row(Constants::z)) +
         table("q", n, Constants::q) + table("pq", n, Constants::pq) +
         function("scale0", n, "void", literal(Constants::scale0)) +
         function("scale", n, "int i", choice("i", Constants::scale, literal)) +
         table("scaled_power", n, Constants::scaled_power);
}

}  // namespace

std::string winograd_constants_text() {
  return constants<4>() + constants<6>() + constants<8>() + constants<9>();
}

}  // namespace lockstep::gpu
