// The one checked reader of outside bytes. Every error is Error(data) in one line: file, place, what was
// expected, what was found.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

// The whole file. Refused if it is larger than `max_bytes`.
std::vector<std::byte> read_raw_file(const std::filesystem::path& path, std::size_t max_bytes);

// The whole file, unpacked if it is gzip (told by its first bytes, not by its name).
// Refused if that is larger than `max_bytes`; never takes much more memory than that.
std::vector<std::byte> read_file(const std::filesystem::path& path, std::size_t max_bytes);

bool is_gzip(std::span<const std::byte> bytes);

// Unpacks one or more gzip members that fill `packed` to its end. `name` is what errors call the file.
std::vector<std::byte> unpack_gzip(std::span<const std::byte> packed, std::string_view name,
                                   std::size_t max_bytes);

// Reads integers and runs of bytes from front to back. `what` says in errors what was expected.
// Requires: the bytes outlive the reader.
class ByteReader {
 public:
  ByteReader(std::span<const std::byte> bytes, std::string_view file) : bytes_(bytes), file_(file) {}

  template <std::unsigned_integral T>
  T big_endian(std::string_view what) {
    std::uint64_t value = 0;
    for (const std::byte b : take(sizeof(T), what)) value = value << 8 | std::to_integer<std::uint64_t>(b);
    return static_cast<T>(value);
  }

  template <std::unsigned_integral T>
  T little_endian(std::string_view what) {
    std::uint64_t value = 0;
    int shift = 0;
    for (const std::byte b : take(sizeof(T), what)) {
      value |= std::to_integer<std::uint64_t>(b) << shift;
      shift += 8;
    }
    return static_cast<T>(value);
  }

  std::span<const std::byte> take(std::size_t count, std::string_view what);

  std::size_t offset() const { return offset_; }
  std::size_t remaining() const { return bytes_.size() - offset_; }
  const std::string& file() const { return file_; }

 private:
  std::span<const std::byte> bytes_;
  std::size_t offset_ = 0;
  std::string file_;
};

}  // namespace lockstep
