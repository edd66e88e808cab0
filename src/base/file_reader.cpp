#include "base/file_reader.h"

#include <algorithm>
#include <limits>
#include <memory>

#include <isa-l/igzip_lib.h>

#include "base/error.h"
#include "base/input_file.h"

namespace lockstep {
namespace {

[[noreturn]] void refuse_size(std::string_view name, std::size_t max_bytes, std::string_view found) {
  throw Error(Fault::data, "{}: expected at most {} bytes, found {}", name, max_bytes, found);
}

// Unpacks one member after the other, into the memory that the caller gives.
class Inflater {
 public:
  explicit Inflater(std::span<const std::byte> packed)
      : packed_(packed), state_(std::make_unique<inflate_state>()) {
    isal_inflate_init(state_.get());
    state_->crc_flag = ISAL_GZIP;
    state_->next_in =
        reinterpret_cast<std::uint8_t*>(const_cast<std::byte*>(packed.data()));  // it only reads
  }

  struct Progress {
    int status;
    std::size_t produced;
  };
  Progress run(std::span<std::byte> into) {
    // The library counts in 32 bits, we do not. The library reads ahead and may go back, also before its
    // start.
    constexpr std::size_t kLongestRun = std::numeric_limits<std::uint32_t>::max();
    const std::size_t room = std::min(into.size(), kLongestRun);
    state_->avail_in = static_cast<std::uint32_t>(std::min(rest().size(), kLongestRun));
    state_->next_out = reinterpret_cast<std::uint8_t*>(into.data());
    state_->avail_out = static_cast<std::uint32_t>(room);
    const int status = isal_inflate(state_.get());
    return {status, room - state_->avail_out};
  }

  bool at_end_of_member() const { return state_->block_state == ISAL_BLOCK_FINISH; }
  void next_member() { isal_inflate_reset(state_.get()); }
  std::size_t position() const {
    return static_cast<std::size_t>(reinterpret_cast<const std::byte*>(state_->next_in) - packed_.data());
  }
  std::span<const std::byte> rest() const { return packed_.subspan(position()); }

 private:
  const std::span<const std::byte> packed_;
  const std::unique_ptr<inflate_state> state_;  // 80 KB
};

std::string_view text_of(int status) {
  switch (status) {
    case ISAL_INVALID_BLOCK:
      return "no such kind of block";
    case ISAL_INVALID_SYMBOL:
      return "no such symbol";
    case ISAL_INVALID_LOOKBACK:
      return "a distance to before the start";
    case ISAL_INVALID_WRAPPER:
      return "no gzip header";
    case ISAL_UNSUPPORTED_METHOD:
      return "another method than deflate";
    case ISAL_INCORRECT_CHECKSUM:
      return "the checksum does not fit";
    default:
      return "no details";
  }
}

constexpr std::size_t kFirstGuess = 64 << 10;

// Doubles up to `limit`, so that memory follows what really is there and not what a header promises.
void grow(std::vector<std::byte>& bytes, std::size_t limit) {
  const std::size_t wanted = bytes.size() > limit / 2 ? limit : bytes.size() * 2;
  bytes.resize(std::min(limit, std::max(wanted, kFirstGuess)));
}

// What the end of a gzip says it unpacks to, where that is possible at all: deflate packs 1032 bytes into one
// at most.
std::size_t stated_size(std::span<const std::byte> packed) {
  constexpr std::size_t kMostFromOne = 1032, kField = sizeof(std::uint32_t);
  if (packed.size() < kField) return 0;
  const auto stated = ByteReader(packed.last(kField), "").little_endian<std::uint32_t>("the unpacked size");
  return stated / kMostFromOne > packed.size() ? 0 : stated;
}

std::size_t one_more_than(std::size_t max_bytes) {
  return max_bytes == std::numeric_limits<std::size_t>::max() ? max_bytes : max_bytes + 1;
}

// Reads what follows `bytes` in the file behind them. Refuses more than `max_bytes` of both together, before
// it is read where the file tells its size.
void append_rest(std::vector<std::byte>& bytes, ByteSource& file, std::size_t max_bytes) {
  std::size_t size = bytes.size();
  const std::size_t stated = size + file.remaining().value_or(0);
  if (stated > max_bytes) refuse_size(file.name(), max_bytes, std::to_string(stated));
  const std::size_t limit = one_more_than(max_bytes);
  bytes.resize(std::min(limit, stated + 1));  // one more, to see the end at once
  for (;;) {
    size += file.read(std::span(bytes).subspan(size));
    if (size > max_bytes) refuse_size(file.name(), max_bytes, "more");
    if (size < bytes.size()) break;
    grow(bytes, limit);
  }
  bytes.resize(size);
}

// Packing what cannot be packed costs 5 bytes in 16 KiB, and a header with names.
std::size_t most_packed_bytes(std::size_t unpacked) {
  const std::size_t overhead = unpacked / 1024 + (64 << 10);
  return unpacked > SIZE_MAX - overhead ? SIZE_MAX : unpacked + overhead;
}

// Unpacks until `enough` bytes are there, or to the end of `packed`.
std::vector<std::byte> unpack(std::span<const std::byte> packed, std::string_view name, std::size_t max_bytes,
                              std::size_t enough) {
  Inflater inflater(packed);
  const std::size_t limit = std::min(enough, one_more_than(max_bytes));
  std::vector<std::byte> bytes(std::min(limit, stated_size(packed) + 1));  // one more, to see the end at once
  std::size_t size = 0;
  while (size < enough) {
    if (size == bytes.size()) grow(bytes, limit);
    const std::size_t before = inflater.position();
    const auto [status, produced] = inflater.run(std::span(bytes).subspan(size));
    size += produced;
    if (size > max_bytes) refuse_size(name, max_bytes, "a gzip that unpacks to more");
    const std::size_t at = inflater.position(), left = packed.size() - at;
    const bool stands_still = produced == 0 && at == before && left > 0 && !inflater.at_end_of_member();
    if (status < ISAL_DECOMP_OK || stands_still) {
      throw Error(Fault::data, "{}: damaged gzip at byte {}: {}; fetch it again", name, at, text_of(status));
    } else if (inflater.at_end_of_member()) {
      if (left == 0) break;
      if (!is_gzip(inflater.rest()))
        throw Error(Fault::data,
                    "{}: expected the end of the gzip data at byte {}, found {} bytes more; fetch it again",
                    name, at, left);
      inflater.next_member();
    } else if (left == 0 && size < bytes.size()) {
      throw Error(Fault::data,
                  "{}: truncated gzip: expected more after byte {}, found the end; fetch it again", name, at);
    }
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace

std::vector<std::byte> read_raw_file(const std::filesystem::path& path, std::size_t max_bytes) {
  InputFile file(path);
  std::vector<std::byte> bytes;
  append_rest(bytes, file, max_bytes);
  return bytes;
}

std::vector<std::byte> read_file(const std::filesystem::path& path, const SizeInHeader& header) {
  constexpr std::size_t kBeginning = 256 << 10;  // a gzip's own header may hold 64 KiB and names
  InputFile file(path);
  std::vector<std::byte> bytes(std::min(kBeginning, file.remaining().value_or(kBeginning)));
  bytes.resize(file.read(bytes));
  const std::string& name = file.name();
  if (is_gzip(bytes)) {
    const std::size_t whole = header.whole_bytes(unpack(bytes, name, SIZE_MAX, header.bytes), name);
    append_rest(bytes, file, most_packed_bytes(whole));
    return unpack(bytes, name, whole, SIZE_MAX);
  }
  const std::size_t whole =
      header.whole_bytes(std::span(bytes).first(std::min(bytes.size(), header.bytes)), name);
  const std::size_t stated = bytes.size() + file.remaining().value_or(0);
  if (stated > whole)
    throw Error(Fault::data, "{}: expected {} bytes, as its header says, found {}; fetch it again", name,
                whole, stated);
  append_rest(bytes, file, whole);
  return bytes;
}

bool is_gzip(std::span<const std::byte> bytes) {
  return bytes.size() >= 2 && bytes[0] == std::byte{0x1f} && bytes[1] == std::byte{0x8b};
}

std::vector<std::byte> unpack_gzip(std::span<const std::byte> packed, std::string_view name,
                                   std::size_t max_bytes) {
  return unpack(packed, name, max_bytes, SIZE_MAX);
}

std::span<const std::byte> ByteReader::take(std::size_t count, std::string_view what) {
  if (count > remaining())
    throw Error(Fault::data, "{}: at byte {}: expected {} ({} bytes), found {} bytes before the end", file_,
                offset_, what, count, remaining());
  const std::span<const std::byte> run = bytes_.subspan(offset_, count);
  offset_ += count;
  return run;
}

}  // namespace lockstep
