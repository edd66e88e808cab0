// An archive of small text files that every tar reads (POSIX ustar). It says nothing about who made it: no
// user, no group, no times.
#pragma once
#include <span>
#include <string>

namespace lockstep::store {

struct TarFile {
  std::string name;  // with its folders: "evidence/README.txt"; at most 100 bytes
  std::string text;
};

// The whole archive, the files in their order. It begins with the name of the first file and a zero.
std::string tar_of(std::span<const TarFile> files);

}  // namespace lockstep::store
