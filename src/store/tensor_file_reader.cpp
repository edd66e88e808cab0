#include "store/tensor_file_reader.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/error.h"
#include "base/input_file.h"

namespace lockstep::store {
namespace {

static_assert(std::endian::native == std::endian::little,
              "the format is little endian, and so are our hosts");

constexpr std::string_view kInt64 = "I64", kCounterSuffix = ".num_batches_tracked";

constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;  // the format's own limit

// A file that says it has more is refused: no memory of a host could hold it.
constexpr std::uint64_t kMaxValueBytes = std::uint64_t{64} << 30;

bool is_counter(const TensorEntry& entry, Counters counters) {
  return counters == Counters::skipped && entry.dtype == kInt64 && entry.shape.empty() &&
         entry.name.ends_with(kCounterSuffix);
}

void check_entry(const TensorEntry& entry, std::uint64_t value_bytes, std::string_view file,
                 Counters counters) {
  const bool counter = is_counter(entry, counters);
  if (entry.dtype != kFloat32 && !counter)
    throw Error(Fault::data, "{}: tensor {:?}: expected dtype F32, found {:?}; convert it first", file,
                entry.name, entry.dtype);
  if (entry.begin > entry.end || entry.end > value_bytes)
    throw Error(Fault::data, "{}: tensor {:?}: expected rising data_offsets of at most {}, found [{}, {}]",
                file, entry.name, value_bytes, entry.begin, entry.end);
  const std::uint64_t expected = counter ? sizeof(std::int64_t) : bytes_by_shape(entry, file);
  if (entry.end - entry.begin != expected)
    throw Error(Fault::data, "{}: tensor {:?}: expected {} bytes by its shape, found {} by its data_offsets",
                file, entry.name, expected, entry.end - entry.begin);
}

// Tensors fill the room for values one after the other: no hole, no overlap, nothing behind. `entries` are in
// file order.
void check_cover(const std::vector<TensorEntry>& entries, std::uint64_t value_bytes, std::string_view file) {
  std::uint64_t covered = 0;
  for (const TensorEntry& entry : entries) {
    if (entry.begin != covered)
      throw Error(Fault::data,
                  "{}: tensor {:?}: expected to begin at {} where the one before ends, found {} ({})", file,
                  entry.name, covered, entry.begin, entry.begin > covered ? "a hole" : "an overlap");
    covered = entry.end;
  }
  if (covered != value_bytes)
    throw Error(Fault::data, "{}: expected {} bytes of tensors after the header, found {}", file, covered,
                value_bytes);
}

std::string read_header(ByteSource& source) {
  std::uint64_t size = 0;
  source.fill(std::as_writable_bytes(std::span(&size, 1)), "the header's size");
  if (size > kMaxHeaderBytes)
    throw Error(Fault::data, "{}: expected a header of at most {} bytes, found {}; is it a safetensors file?",
                source.name(), kMaxHeaderBytes, size);
  source.expect(static_cast<std::size_t>(size), "the header");
  std::string bytes(sizeof(size) + static_cast<std::size_t>(size), '\0');
  std::memcpy(bytes.data(), &size, sizeof(size));
  source.fill(std::as_writable_bytes(std::span(bytes)).subspan(sizeof(size)), "the header");
  return bytes;
}

// What follows the header; of a pipe, which does not tell, what the header says.
std::uint64_t value_bytes(const ByteSource& source, const std::vector<TensorEntry>& entries) {
  std::uint64_t last = 0;
  for (const TensorEntry& entry : entries) last = std::max(last, entry.end);
  const std::uint64_t bytes = source.remaining().value_or(last);
  if (bytes > kMaxValueBytes)
    throw Error(Fault::data, "{}: expected at most {} bytes after the header, found {}", source.name(),
                kMaxValueBytes, bytes);
  return bytes;
}

}  // namespace

TensorFileReader::TensorFileReader(const std::filesystem::path& path, Counters counters)
    : TensorFileReader(std::make_unique<InputFile>(path), counters) {}

TensorFileReader::TensorFileReader(std::span<const std::byte> bytes, std::string_view file, Counters counters)
    : TensorFileReader(std::make_unique<MemorySource>(bytes, file), counters) {}

TensorFileReader::TensorFileReader(std::unique_ptr<ByteSource> source, Counters counters)
    : source_(std::move(source)),
      header_bytes_(read_header(*source_)),
      header_(
          parse_safetensors_header(std::string_view(header_bytes_).substr(sizeof(std::uint64_t)), file())) {
  std::vector<TensorEntry>& entries = header_.tensors;
  const std::uint64_t bytes = value_bytes(*source_, entries);
  for (const TensorEntry& entry : entries) check_entry(entry, bytes, file(), counters);
  std::ranges::stable_sort(entries, [](const auto& a, const auto& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
  check_cover(entries, bytes, file());
  for (const TensorEntry& entry : entries) {
    if (entry.dtype != kFloat32)
      counters_.push_back(entry.name);
    else
      shapes_.push_back({entry.name, {entry.shape.begin(), entry.shape.end()}});
  }
}

std::vector<Tensor> TensorFileReader::read_values() {
  std::vector<Tensor> tensors;
  tensors.reserve(shapes_.size());
  for (const TensorEntry& entry : header_.tensors) {
    if (entry.dtype != kFloat32) {
      std::int64_t counter = 0;
      source_->fill(std::as_writable_bytes(std::span(&counter, 1)), "a counter's value");
      continue;
    }
    Tensor tensor{.name = entry.name,
                  .shape = shapes_[tensors.size()].shape,
                  .values = std::vector<float>((entry.end - entry.begin) / sizeof(float))};
    source_->fill(std::as_writable_bytes(std::span(tensor.values)), "a tensor's values");
    tensors.push_back(std::move(tensor));
  }
  std::byte more{};
  if (source_->read({&more, 1}) != 0)
    throw Error(Fault::data, "{}: expected the end after the last tensor at byte {}, found more", file(),
                source_->offset() - 1);
  return tensors;
}

}  // namespace lockstep::store
