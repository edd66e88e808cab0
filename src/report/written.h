// The check that everything a reporter wrote has arrived; if not, the error names the file.
#pragma once
#include <ostream>
#include <string_view>

#include "base/error.h"

namespace lockstep::report {

// Throws Error(ours) naming `path` if anything written to `out` so far failed.
inline void require_written(const std::ostream& out, std::string_view path) {
  if (!out) {
    throw Error(Fault::ours,
                "cannot write {}: the system refused the bytes; is the disk full or the folder gone?", path);
  }
}

}  // namespace lockstep::report
