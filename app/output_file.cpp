#include "output_file.h"

#include <fstream>
#include <string>

#include "base/error.h"

namespace lockstep::app {
namespace {

namespace fs = std::filesystem;

// The first `bytes` bytes of a file, or all of a shorter one.
std::string beginning_of(const fs::path& file, std::size_t bytes) {
  std::string text(bytes, '\0');
  std::ifstream in(file, std::ios::binary);
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text;
}

const fs::path& checked(const fs::path& path, const OutputFile::Kind& kind) {
  std::error_code ignored;  // what cannot be looked at is refused when the file is made
  const fs::file_status found = fs::symlink_status(path, ignored);
  if (!fs::exists(found)) return path;
  if (!fs::is_regular_file(found) || beginning_of(path, kind.beginning.size()) != kind.beginning)
    throw Error(Fault::usage,
                "{}: expected a new file or {} that lockstep wrote, found that {} is {}; name another",
                kind.option, kind.noun, path.string(),
                fs::is_symlink(found)        ? "a symbolic link"
                : fs::is_directory(found)    ? "a directory"
                : fs::is_regular_file(found) ? "another file"
                                             : "no regular file");
  return path;
}

}  // namespace

OutputFile::OutputFile(const fs::path& path, const Kind& kind)
    : path_(path), kind_(kind), file_(checked(path, kind)) {}

void OutputFile::write(std::string_view text) {
  file_.write(text);
  checked(path_, kind_);
  file_.commit();
}

}  // namespace lockstep::app
