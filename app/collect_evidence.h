// `devices --evidence`: what a machine's GPUs do, in one file to send.
#pragma once
#include <filesystem>
#include <optional>

#include "drill.h"

namespace lockstep::app {

struct EvidenceOptions {
  std::filesystem::path file;
  double seconds = 600;  // for everything
  std::optional<DeviceDrill> drill = {};
};

// Runs the parts, each in a process of its own, writes the file and prints what it says; progress goes to
// stderr. Returns the exit code: 0, that of a fault if bits differ or a part failed, or that of a signal,
// after which there is no file. Throws Error for a file that must not or cannot be written, before anything
// runs. Requires: this process has no other thread.
int collect_evidence(const EvidenceOptions& options);

}  // namespace lockstep::app
