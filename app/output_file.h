// A file that an option names. Only one of its kind that Lockstep wrote is replaced: any other file there may
// be work of the user's.
#pragma once
#include <filesystem>
#include <string_view>

#include "base/atomic_file.h"

namespace lockstep::app {

class OutputFile {
 public:
  struct Kind {
    std::string_view option;     // --trace
    std::string_view noun;       // a trace
    std::string_view beginning;  // with which every file of this kind begins
  };

  // Before anything long begins. Throws Error(usage) naming what is in the way, Error(ours) if the file
  // cannot be written. Requires: the kind's texts outlive it.
  OutputFile(const std::filesystem::path& path, const Kind& kind);

  // Looks again at what is there, then writes. Call once.
  void write(std::string_view text);

 private:
  const std::filesystem::path path_;
  const Kind kind_;
  AtomicFile file_;
};

}  // namespace lockstep::app
