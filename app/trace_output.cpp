#include "trace_output.h"

#include <sstream>

#include "report/trace_file.h"

namespace lockstep::app {

TraceOutput::TraceOutput(const std::filesystem::path& path)
    : file_(path, {.option = "--trace", .noun = "a trace", .beginning = report::kTraceBeginning}) {}

void TraceOutput::write(std::span<const run::DeviceTrace> devices) {
  std::ostringstream text;
  report::write_trace(text, devices);
  file_.write(text.str());
}

}  // namespace lockstep::app
