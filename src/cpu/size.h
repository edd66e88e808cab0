#pragma once

#include <cstddef>

namespace lockstep::cpu {

// Plans count in signed numbers, which offsets can be subtracted from; allocations take sizes.
constexpr std::size_t size(std::ptrdiff_t n) { return static_cast<std::size_t>(n); }

}  // namespace lockstep::cpu
