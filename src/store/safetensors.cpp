#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <set>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/file_reader.h"
#include "store/safetensors_header.h"
#include "store/tensor_file.h"

namespace lockstep::store {
namespace {

static_assert(std::endian::native == std::endian::little,
              "the format is little endian, and so are our hosts");

constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;  // the format's own limit
constexpr std::string_view kFloat32 = "F32";

// Bytes of the tensor by its shape; refused where that, or a size, passes 63 bits.
std::uint64_t bytes_by_shape(const TensorEntry& entry, std::string_view file) {
  constexpr std::uint64_t kLimit = std::numeric_limits<std::int64_t>::max();
  std::uint64_t bytes = sizeof(float);
  for (const std::uint64_t size : entry.shape) {
    if (size > kLimit || (size != 0 && bytes > kLimit / size))
      throw Error(Fault::data, "{}: tensor {:?}: expected a shape of at most {} bytes, found more", file,
                  entry.name, kLimit);
    bytes *= size;
  }
  return bytes;
}

void check_entry(const TensorEntry& entry, std::uint64_t buffer_bytes, std::string_view file) {
  if (entry.dtype != kFloat32)
    throw Error(Fault::data, "{}: tensor {:?}: expected dtype F32, found {:?}; convert it first", file,
                entry.name, entry.dtype);
  if (entry.begin > entry.end || entry.end > buffer_bytes)
    throw Error(Fault::data, "{}: tensor {:?}: expected rising data_offsets of at most {}, found [{}, {}]",
                file, entry.name, buffer_bytes, entry.begin, entry.end);
  const std::uint64_t expected = bytes_by_shape(entry, file);
  if (entry.end - entry.begin != expected)
    throw Error(Fault::data, "{}: tensor {:?}: expected {} bytes by its shape, found {} by its data_offsets",
                file, entry.name, expected, entry.end - entry.begin);
}

// Tensors fill the buffer one after the other: no hole, no overlap, nothing behind. `entries` are in file
// order.
void check_cover(const std::vector<TensorEntry>& entries, std::uint64_t buffer_bytes, std::string_view file) {
  std::uint64_t covered = 0;
  for (const TensorEntry& entry : entries) {
    if (entry.begin != covered)
      throw Error(Fault::data,
                  "{}: tensor {:?}: expected to begin at {} where the one before ends, found {} ({})", file,
                  entry.name, covered, entry.begin, entry.begin > covered ? "a hole" : "an overlap");
    covered = entry.end;
  }
  if (covered != buffer_bytes)
    throw Error(Fault::data, "{}: expected {} bytes of tensors after the header, found {}", file, covered,
                buffer_bytes);
}

std::string_view read_header_text(ByteReader& reader) {
  const auto size = reader.little_endian<std::uint64_t>("the header's size");
  if (size > kMaxHeaderBytes)
    throw Error(Fault::data, "{}: expected a header of at most {} bytes, found {}; is it a safetensors file?",
                reader.file(), kMaxHeaderBytes, size);
  const std::span<const std::byte> text = reader.take(static_cast<std::size_t>(size), "the header");
  return {reinterpret_cast<const char*>(text.data()), text.size()};
}

SafetensorsHeader header_for(const TensorFile& file) {
  SafetensorsHeader header{.tensors = {}, .metadata = file.metadata};
  std::set<std::string_view> names{"__metadata__"};
  std::uint64_t offset = 0;
  for (const Tensor& tensor : file.tensors) {
    check(names.insert(tensor.name).second, "tensor name {:?} is taken", tensor.name);
    TensorEntry entry{.name = tensor.name, .dtype = std::string(kFloat32), .shape = {}, .begin = offset};
    for (const std::int64_t size : tensor.shape) {
      check(size >= 0, "tensor {:?} has a negative size", tensor.name);
      entry.shape.push_back(static_cast<std::uint64_t>(size));
    }
    offset += tensor.values.size() * sizeof(float);
    entry.end = offset;
    check(bytes_by_shape(entry, "tensor to write") == entry.end - entry.begin,
          "tensor {:?} has {} values, its shape says otherwise", tensor.name, tensor.values.size());
    header.tensors.push_back(std::move(entry));
  }
  return header;
}

}  // namespace

std::string tensor_file_header(const TensorFile& file) {
  const std::string text = safetensors_header_text(header_for(file));
  const std::uint64_t size = text.size();
  std::string header(sizeof(size), '\0');
  std::memcpy(header.data(), &size, sizeof(size));
  return header + text;
}

void write_tensor_file(const std::filesystem::path& path, const TensorFile& file) {
  const std::string header = tensor_file_header(file);
  AtomicFile out(path);
  out.write(header);
  for (const Tensor& tensor : file.tensors) out.write(std::as_bytes(std::span(tensor.values)));
  out.commit();
}

TensorFile read_tensor_file(const std::filesystem::path& path) {
  return parse_tensor_file(read_raw_file(path, kMaxTensorFileBytes), path.string());
}

TensorFile parse_tensor_file(std::span<const std::byte> bytes, std::string_view file) {
  ByteReader reader(bytes, file);
  SafetensorsHeader header = parse_safetensors_header(read_header_text(reader), file);
  const std::uint64_t buffer_bytes = reader.remaining();
  for (const TensorEntry& entry : header.tensors) check_entry(entry, buffer_bytes, file);
  std::stable_sort(header.tensors.begin(), header.tensors.end(), [](const auto& a, const auto& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
  check_cover(header.tensors, buffer_bytes, file);

  TensorFile result{.tensors = {}, .metadata = std::move(header.metadata)};
  for (TensorEntry& entry : header.tensors) {
    const std::span<const std::byte> values =
        reader.take(static_cast<std::size_t>(entry.end - entry.begin), "a tensor's values");
    Tensor tensor{.name = std::move(entry.name),
                  .shape = {entry.shape.begin(), entry.shape.end()},
                  .values = std::vector<float>(values.size() / sizeof(float))};
    if (!values.empty()) std::memcpy(tensor.values.data(), values.data(), values.size());
    result.tensors.push_back(std::move(tensor));
  }
  return result;
}

}  // namespace lockstep::store
