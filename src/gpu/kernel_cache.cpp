#include "gpu/kernel_cache.h"

#include <fmt/format.h>

#include "base/hash.h"
#include "gpu/kept_file.h"

namespace lockstep::gpu {
namespace {

constexpr std::size_t kMostCacheBytes = 64 << 20;  // all kernels are a few MB

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

// A file is a seal, a line for the compiler and the code; the seal is for what follows it.
std::string seal(std::string_view rest) {
  return fmt::format("// Lockstep's kernels, kept as {}\n", to_hex(hash128(bytes_of(rest))));
}

}  // namespace

std::filesystem::path KernelCache::path(std::span<const std::string> inputs) const {
  Hasher128 hasher;
  for (const std::string& input : inputs) {
    hasher.add(bytes_of(fmt::format("{} ", input.size())));  // so that no two lists are one text
    hasher.add(bytes_of(input));
  }
  return directory_ / fmt::format("kernels-{}", to_hex(hasher.digest()));
}

std::optional<KeptKernels> KernelCache::load(std::span<const std::string> inputs) const {
  if (directory_.empty()) return std::nullopt;
  const std::optional<std::string> text = kept_text(path(inputs), kMostCacheBytes);
  const std::size_t length = seal({}).size();
  if (!text || text->size() < length) return std::nullopt;
  const std::string rest = text->substr(length);
  const std::size_t line = rest.find('\n');
  if (text->substr(0, length) != seal(rest) || line == std::string::npos) return std::nullopt;
  return KeptKernels{rest.substr(0, line), rest.substr(line + 1)};
}

void KernelCache::keep(std::span<const std::string> inputs, const KeptKernels& kernels) const {
  if (directory_.empty() || kernels.code.size() > kMostCacheBytes / 2) return;
  const std::string rest = kernels.compiler + "\n" + kernels.code;
  try_to_keep(path(inputs), seal(rest) + rest);
}

}  // namespace lockstep::gpu
