// Kernels that were compiled before, kept as files in a directory. A file proves that it is whole by a hash
// of what it holds; one that does not, or that other users may have written, counts as none.
#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace lockstep::gpu {

// Where compiled kernels are kept, and what a compiler says that refuses some. Empty: nowhere.
struct CacheOptions {
  CacheOptions() = default;
  CacheOptions(std::filesystem::path where) : directory(std::move(where)) {}

  std::filesystem::path directory = {};
  // Told the device's name before its compiler is asked, which takes its time.
  std::function<void(const std::string&)> on_compile = [](const std::string&) {};
};

struct KeptKernels {
  std::string compiler;  // that made them, with its version; a line
  std::string code;
  bool operator==(const KeptKernels&) const = default;
};

class KernelCache {
 public:
  // With an empty directory it keeps nothing.
  explicit KernelCache(std::filesystem::path directory) : directory_(std::move(directory)) {}

  // The file for what `inputs` make: all that the compiler is told.
  std::filesystem::path path(std::span<const std::string> inputs) const;

  std::optional<KeptKernels> load(std::span<const std::string> inputs) const;

  // A cache that cannot be written only makes the next start slower, so it is not an error.
  void keep(std::span<const std::string> inputs, const KeptKernels& kernels) const;

 private:
  const std::filesystem::path directory_;
};

}  // namespace lockstep::gpu
