#include "trace_output.h"

#include <fstream>
#include <sstream>
#include <string>

#include "base/error.h"
#include "report/trace_file.h"

namespace lockstep::app {
namespace {

namespace fs = std::filesystem;

// The first bytes of a file, as many as tell whether it is a trace.
std::string beginning_of(const fs::path& file) {
  std::string text(report::kTraceBeginning.size(), '\0');
  std::ifstream in(file, std::ios::binary);
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text;
}

const fs::path& checked(const fs::path& path) {
  std::error_code ignored;  // what cannot be looked at is refused when the file is made
  const fs::file_status found = fs::symlink_status(path, ignored);
  if (!fs::exists(found)) return path;
  if (!fs::is_regular_file(found) || beginning_of(path) != report::kTraceBeginning)
    throw Error(
        Fault::usage,
        "--trace: expected a new file or a trace that lockstep wrote, found that {} is {}; name another",
        path.string(),
        fs::is_symlink(found)        ? "a symbolic link"
        : fs::is_directory(found)    ? "a directory"
        : fs::is_regular_file(found) ? "another file"
                                     : "no regular file");
  return path;
}

}  // namespace

TraceOutput::TraceOutput(const fs::path& path) : path_(path), file_(checked(path)) {}

void TraceOutput::write(std::span<const run::DeviceTrace> devices) {
  std::ostringstream text;
  report::write_trace(text, devices);
  file_.write(text.str());
  checked(path_);
  file_.commit();
}

}  // namespace lockstep::app
