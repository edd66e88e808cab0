#include "data/idx.h"

#include "base/error.h"

namespace lockstep::data {
namespace {

// Two zero bytes, 8 for "unsigned byte", the number of sizes that follow.
constexpr std::uint32_t kLabelsMagic = 0x00000801, kImagesMagic = 0x00000803, kChannelsMagic = 0x00000804;

std::uint32_t read_magic(ByteReader& reader) {
  return reader.big_endian<std::uint32_t>("the IDX magic number");
}

[[noreturn]] void refuse_magic(const ByteReader& reader, std::string_view expected, std::uint32_t found) {
  throw Error(Fault::data, "{}: expected IDX magic number {}, found {:#010x}; is it the right file?",
              reader.file(), expected, found);
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

struct ImagesHeader {
  std::uint32_t count, channels, height, width;
  std::size_t bytes;  // of all pixels
};

ImagesHeader read_images_header(ByteReader& reader) {
  const std::uint32_t magic = read_magic(reader);
  if (magic != kImagesMagic && magic != kChannelsMagic)
    refuse_magic(reader, "0x00000803 (images of unsigned bytes) or 0x00000804 (with channels)", magic);
  const std::uint32_t count = read_size(reader, "a number of images");
  const std::uint32_t channels = magic == kChannelsMagic ? read_size(reader, "a number of channels") : 1;
  const std::uint32_t height = read_size(reader, "an image height");
  const std::uint32_t width = read_size(reader, "an image width");
  std::size_t bytes = count;
  for (const std::uint32_t size : {height, width, channels}) bytes = checked_product(reader, bytes, size);
  return {count, channels, height, width, bytes};
}

std::uint32_t read_labels_header(ByteReader& reader) {
  if (const std::uint32_t magic = read_magic(reader); magic != kLabelsMagic)
    refuse_magic(reader, "0x00000801 (labels of unsigned bytes)", magic);
  const std::uint32_t count = read_size(reader, "a number of labels");
  static_cast<void>(checked_product(reader, 1, count));
  return count;
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

SizeInHeader idx_images_size() {
  return {5 * sizeof(std::uint32_t), [](std::span<const std::byte> header, std::string_view file) {
            ByteReader reader(header, file);
            const std::size_t pixels = read_images_header(reader).bytes;
            return reader.offset() + pixels;
          }};
}

SizeInHeader idx_labels_size() {
  return {2 * sizeof(std::uint32_t), [](std::span<const std::byte> header, std::string_view file) {
            ByteReader reader(header, file);
            const std::size_t labels = read_labels_header(reader);
            return reader.offset() + labels;
          }};
}

IdxImages parse_idx_images(std::span<const std::byte> bytes, std::string_view file) {
  ByteReader reader(bytes, file);
  const ImagesHeader header = read_images_header(reader);
  return {.count = header.count,
          .channels = static_cast<int>(header.channels),
          .height = static_cast<int>(header.height),
          .width = static_cast<int>(header.width),
          .pixels = read_rest(reader, header.bytes)};
}

std::vector<std::uint8_t> parse_idx_labels(std::span<const std::byte> bytes, std::string_view file,
                                           int classes) {
  ByteReader reader(bytes, file);
  const std::uint32_t count = read_labels_header(reader);
  std::vector<std::uint8_t> labels = read_rest(reader, count);
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (labels[i] >= classes)
      throw Error(Fault::data, "{}: expected labels from 0 to {}, found {} at example {}", reader.file(),
                  classes - 1, labels[i], i);
  return labels;
}

}  // namespace lockstep::data
