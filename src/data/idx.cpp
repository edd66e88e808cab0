#include "data/idx.h"

#include "base/error.h"
#include "base/file_reader.h"

namespace lockstep::data {
namespace {

// Two zero bytes, 8 for "unsigned byte", the number of sizes that follow.
constexpr std::uint32_t kLabelsMagic = 0x00000801, kImagesMagic = 0x00000803;

void expect_magic(ByteReader& reader, std::uint32_t expected, std::string_view content) {
  const auto found = reader.big_endian<std::uint32_t>("the IDX magic number");
  if (found == expected) return;
  throw Error(Fault::data,
              "{}: expected IDX magic number {:#010x} ({}), found {:#010x}; is it the right file?",
              reader.file(), expected, content, found);
}

std::uint32_t read_size(ByteReader& reader, std::string_view what) {
  const auto size = reader.big_endian<std::uint32_t>(what);
  if (size == 0) throw Error(Fault::data, "{}: expected {} of at least 1, found 0", reader.file(), what);
  return size;
}

// Sizes come from outside: their product may pass 64 bits.
std::size_t checked_product(const ByteReader& reader, std::size_t total, std::uint32_t size) {
  if (size > kMaxIdxBytes / total)
    throw Error(Fault::data, "{}: expected sizes of at most {} bytes in all, found {} x {}", reader.file(),
                kMaxIdxBytes, total, size);
  return total * size;
}

std::vector<std::uint8_t> read_rest(ByteReader& reader, std::size_t expected) {
  if (reader.remaining() != expected)
    throw Error(Fault::data,
                "{}: expected {} bytes after byte {}, as its sizes say, found {}; fetch it again",
                reader.file(), expected, reader.offset(), reader.remaining());
  const auto* values = reinterpret_cast<const std::uint8_t*>(reader.take(expected, "values").data());
  return {values, values + expected};
}

}  // namespace

IdxImages parse_idx_images(std::span<const std::byte> bytes, std::string_view file) {
  ByteReader reader(bytes, file);
  expect_magic(reader, kImagesMagic, "images of unsigned bytes");
  IdxImages images;
  images.count = read_size(reader, "a number of images");
  const std::uint32_t height = read_size(reader, "an image height");
  const std::uint32_t width = read_size(reader, "an image width");
  std::size_t total = checked_product(reader, images.count, height);
  total = checked_product(reader, total, width);
  images.height = static_cast<int>(height);
  images.width = static_cast<int>(width);
  images.pixels = read_rest(reader, total);
  return images;
}

std::vector<std::uint8_t> parse_idx_labels(std::span<const std::byte> bytes, std::string_view file,
                                           int classes) {
  ByteReader reader(bytes, file);
  expect_magic(reader, kLabelsMagic, "labels of unsigned bytes");
  const std::uint32_t count = read_size(reader, "a number of labels");
  std::vector<std::uint8_t> labels = read_rest(reader, count);
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (labels[i] >= classes)
      throw Error(Fault::data, "{}: expected labels from 0 to {}, found {} at example {}", reader.file(),
                  classes - 1, labels[i], i);
  return labels;
}

}  // namespace lockstep::data
