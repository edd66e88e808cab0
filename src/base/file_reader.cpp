#include "base/file_reader.h"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <memory>
#include <system_error>

#include <fcntl.h>
#include <isa-l/igzip_lib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

namespace lockstep {
namespace {

std::string reason(int error) { return std::generic_category().message(error); }

class OpenFile {
 public:
  explicit OpenFile(const std::filesystem::path& path)
      : name_(path.string()), descriptor_(::open(name_.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor_ < 0) throw Error(Fault::data, "{}: cannot open: {}", name_, reason(errno));
  }
  ~OpenFile() { ::close(descriptor_); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  // 0 for what has no size, as a pipe.
  std::size_t stated_size() const {
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0)
      throw Error(Fault::data, "{}: cannot stat: {}", name_, reason(errno));
    if (S_ISDIR(status.st_mode)) throw Error(Fault::data, "{}: expected a file, found a directory", name_);
    return S_ISREG(status.st_mode) ? static_cast<std::size_t>(status.st_size) : 0;
  }

  // 0 at the end.
  std::size_t read_some(std::span<std::byte> into) {
    for (;;) {
      const ssize_t got = ::read(descriptor_, into.data(), into.size());
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno != EINTR) throw Error(Fault::data, "{}: cannot read: {}", name_, reason(errno));
    }
  }

 private:
  const std::string name_;
  const int descriptor_;
};

[[noreturn]] void refuse_size(std::string_view name, std::size_t max_bytes, std::string_view found) {
  throw Error(Fault::data, "{}: expected at most {} bytes, found {}", name, max_bytes, found);
}

// Unpacks one member after the other, into whatever room it is given.
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
    // The library counts in 32 bits, we do not. It reads ahead and may go back, also behind where it began.
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

}  // namespace

std::vector<std::byte> read_raw_file(const std::filesystem::path& path, std::size_t max_bytes) {
  OpenFile file(path);
  const std::size_t stated = file.stated_size();
  if (stated > max_bytes) refuse_size(path.string(), max_bytes, std::to_string(stated));
  const std::size_t limit = one_more_than(max_bytes);
  std::vector<std::byte> bytes(std::min(limit, stated + 1));  // one more, to see the end at once
  std::size_t size = 0;
  while (const std::size_t got = file.read_some(std::span(bytes).subspan(size))) {
    size += got;
    if (size > max_bytes) refuse_size(path.string(), max_bytes, "more");
    if (size == bytes.size()) grow(bytes, limit);
  }
  bytes.resize(size);
  return bytes;
}

std::vector<std::byte> read_file(const std::filesystem::path& path, std::size_t max_bytes) {
  // Packing what cannot be packed costs 5 bytes in 16 KiB, and a header with names.
  const std::size_t overhead = max_bytes / 1024 + (64 << 10);
  const std::size_t packed_limit = max_bytes > SIZE_MAX - overhead ? SIZE_MAX : max_bytes + overhead;
  std::vector<std::byte> bytes = read_raw_file(path, packed_limit);
  if (is_gzip(bytes)) return unpack_gzip(bytes, path.string(), max_bytes);
  if (bytes.size() > max_bytes) refuse_size(path.string(), max_bytes, std::to_string(bytes.size()));
  return bytes;
}

bool is_gzip(std::span<const std::byte> bytes) {
  return bytes.size() >= 2 && bytes[0] == std::byte{0x1f} && bytes[1] == std::byte{0x8b};
}

std::vector<std::byte> unpack_gzip(std::span<const std::byte> packed, std::string_view name,
                                   std::size_t max_bytes) {
  Inflater inflater(packed);
  const std::size_t limit = one_more_than(max_bytes);
  std::vector<std::byte> bytes(std::min(limit, stated_size(packed) + 1));  // one more, to see the end at once
  std::size_t size = 0;
  for (;;) {
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

std::span<const std::byte> ByteReader::take(std::size_t count, std::string_view what) {
  if (count > remaining())
    throw Error(Fault::data, "{}: at byte {}: expected {} ({} bytes), found {} bytes before the end", file_,
                offset_, what, count, remaining());
  const std::span<const std::byte> run = bytes_.subspan(offset_, count);
  offset_ += count;
  return run;
}

}  // namespace lockstep
