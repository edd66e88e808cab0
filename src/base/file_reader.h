// The one checked reader of outside bytes. Every error is one line: file, place, what was expected, what was
// found. A file whose bytes the system does not hand out is CannotRead, all else is Error(data).
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

// The whole file. Refused if it is larger than `max_bytes`, and what base/input_file.h refuses.
std::vector<std::byte> read_raw_file(const std::filesystem::path& path, std::size_t max_bytes);

// How the first bytes of a file, unpacked, tell the size of all of it, unpacked.
struct SizeInHeader {
  std::size_t bytes;  // that are looked at
  // Given the first bytes, fewer than `bytes` if the file ends before, and what errors call the file. Throws
  // Error(data) if they are not such a header or if the size is past a limit.
  std::function<std::size_t(std::span<const std::byte>, std::string_view)> whole_bytes;
};

// The whole file, unpacked if it is gzip (told by its first bytes, not by its name). Its header is judged
// first. A plain file of another size than its header says is refused unread, unless it is shorter; a gzip is
// refused where it unpacks to more.
std::vector<std::byte> read_file(const std::filesystem::path& path, const SizeInHeader& header);

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
