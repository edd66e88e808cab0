#include "device/gpu/kernel_cache.h"

#include "base/error.h"
#include "base/file_reader.h"
#include "base/hash.h"
#include "device/gpu/kept_file.h"

namespace lockstep::device::gpu {
namespace {

constexpr std::size_t kMostBytes = 64 << 20;  // all kernels are a few MB

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

// The first line of a file whose rest is `code`.
std::string seal(std::string_view code) {
  return fmt::format("// Lockstep's kernels, kept as {}\n", to_hex(hash128(bytes_of(code))));
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

std::optional<std::string> KernelCache::load(std::span<const std::string> inputs) const {
  if (directory_.empty()) return std::nullopt;
  try {
    const std::vector<std::byte> file = read_raw_file(path(inputs), kMostBytes);
    std::string text(reinterpret_cast<const char*>(file.data()), file.size());
    const std::size_t first_line = seal({}).size();
    if (text.size() < first_line) return std::nullopt;
    const std::string code = text.substr(first_line);
    if (text.substr(0, first_line) != seal(code)) return std::nullopt;
    return code;
  } catch (const Error&) {  // it is not there, or cannot be read
    return std::nullopt;
  }
}

void KernelCache::keep(std::span<const std::string> inputs, const std::string& code) const {
  if (directory_.empty() || code.size() > kMostBytes / 2) return;
  try_to_keep(path(inputs), seal(code) + code);
}

}  // namespace lockstep::device::gpu
