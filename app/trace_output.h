// The file that --trace names. Only a trace that Lockstep wrote is replaced: any other file there may be
// work of the user's.
#pragma once
#include <filesystem>
#include <span>

#include "base/atomic_file.h"
#include "run/trace.h"

namespace lockstep::app {

class TraceOutput {
 public:
  // Before anything long begins. Throws Error(usage) naming what is in the way, Error(ours) if the file
  // cannot be written.
  explicit TraceOutput(const std::filesystem::path& path);

  // Looks again at what is there, then writes. Call once.
  void write(std::span<const run::DeviceTrace> devices);

 private:
  const std::filesystem::path path_;
  AtomicFile file_;
};

}  // namespace lockstep::app
