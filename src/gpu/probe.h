// A GPU proves its arithmetic before it may compute: every operation that the kernels build on, alone and in
// lanes, on random numbers and on edge cases, against the host's. Capability bits are not asked: there are
// exact devices that report no fused multiply-add, and wrong ones that report everything.
#pragma once
#include <cstddef>
#include <optional>
#include <string>

#include "gpu/driver.h"

namespace lockstep::gpu {

// A case that came out otherwise.
struct Mismatch {
  std::string operation;                  // "a fused multiply-add"
  std::string operands;                   // "0x1.8p+1, -0x1p-149, 0x0p+0"
  std::uint32_t expected = 0, found = 0;  // bits
};

// The first mismatch of `cases` random cases after the edge cases, or none.
std::optional<Mismatch> probe(Driver& driver, std::size_t cases);

inline constexpr std::size_t kUsualCases = 20'000, kFullCases = 4'000'000;

// Why the device may not compute, in one line that names operation, operands and both bit patterns; nothing
// if it may.
std::string inexactness(Driver& driver, std::size_t cases);

}  // namespace lockstep::gpu
