// The file that --trace names.
#pragma once
#include <filesystem>
#include <span>

#include "output_file.h"
#include "run/trace.h"

namespace lockstep::app {

class TraceOutput {
 public:
  // As OutputFile.
  explicit TraceOutput(const std::filesystem::path& path);

  // Call once.
  void write(std::span<const run::DeviceTrace> devices);

 private:
  OutputFile file_;
};

}  // namespace lockstep::app
