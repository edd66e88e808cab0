// A library that is opened at run time.
#pragma once
#include <memory>
#include <span>
#include <string>

namespace lockstep::gpu {

class SharedLibrary {
 public:
  // Opens the first of `paths` that can be. Null if none can; `problem` then says why, in one line.
  static std::unique_ptr<SharedLibrary> open(std::span<const std::string> paths, std::string& problem);

  ~SharedLibrary();
  SharedLibrary(const SharedLibrary&) = delete;
  SharedLibrary& operator=(const SharedLibrary&) = delete;

  const std::string& path() const { return path_; }

  // Null if it has no such function.
  void* find(const char* symbol) const;

 private:
  SharedLibrary(void* handle, std::string path);

  void* const handle_;
  const std::string path_;
};

}  // namespace lockstep::gpu
