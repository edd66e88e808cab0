// The shapes that kernels take, for the host that fills them in.
#pragma once
#include <cstddef>
#include <limits>

#include "base/error.h"

namespace lockstep::gpu {

#include "gpu/kernels/arguments.inc"

// Kernels count in ints.
inline int as_int(std::size_t count) {
  if (count > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw Error(Fault::device,
                "{} numbers in one piece are more than a GPU's kernels count; use more devices", count);
  return static_cast<int>(count);
}

}  // namespace lockstep::gpu
