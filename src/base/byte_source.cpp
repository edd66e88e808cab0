#include "base/byte_source.h"

#include <algorithm>

#include "base/error.h"

namespace lockstep {
namespace {

[[noreturn]] void refuse_end(const ByteSource& source, std::size_t at, std::size_t count,
                             std::string_view what, std::size_t found) {
  throw Error(Fault::data, "{}: at byte {}: expected {} ({} bytes), found {} bytes before the end",
              source.name(), at, what, count, found);
}

}  // namespace

std::size_t ByteSource::read(std::span<std::byte> into) {
  std::size_t size = 0;
  while (size < into.size()) {
    const std::size_t got = read_some(into.subspan(size));
    if (got == 0) break;
    size += got;
    offset_ += got;
  }
  return size;
}

void ByteSource::expect(std::size_t count, std::string_view what) const {
  const std::optional<std::size_t> left = remaining();
  if (left && *left < count) refuse_end(*this, offset_, count, what, *left);
}

void ByteSource::fill(std::span<std::byte> into, std::string_view what) {
  expect(into.size(), what);
  const std::size_t from = offset_;
  const std::size_t found = read(into);
  if (found < into.size()) refuse_end(*this, from, into.size(), what, found);
}

std::size_t MemorySource::read_some(std::span<std::byte> into) {
  const std::span<const std::byte> rest = bytes_.subspan(offset());
  const std::size_t count = std::min(rest.size(), into.size());
  std::copy_n(rest.begin(), count, into.begin());
  return count;
}

}  // namespace lockstep
