#include "base/file_reader.h"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

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

// One inflate state, freed on every path.
class Inflater {
 public:
  explicit Inflater(std::span<const std::byte> packed) : packed_(packed) {
    constexpr int kGzipOnly = 16;  // zlib's own code for "a gzip header, nothing else"
    if (inflateInit2(&stream_, MAX_WBITS + kGzipOnly) != Z_OK) throw Error(Fault::ours, "zlib: no memory");
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  struct Progress {
    int status;
    std::size_t produced;
  };
  Progress run(std::span<std::byte> into) {
    // zlib counts in 32 bits, we do not
    constexpr std::size_t kLongestRun = std::numeric_limits<uInt>::max();
    const std::size_t input = std::min(packed_.size(), kLongestRun);
    const std::size_t room = std::min(into.size(), kLongestRun);
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed_.data()));  // it only reads
    stream_.avail_in = static_cast<uInt>(input);
    stream_.next_out = reinterpret_cast<Bytef*>(into.data());
    stream_.avail_out = static_cast<uInt>(room);
    const int status = inflate(&stream_, Z_NO_FLUSH);
    packed_ = packed_.subspan(input - stream_.avail_in);
    return {status, room - stream_.avail_out};
  }

  void next_member() { inflateReset(&stream_); }
  std::size_t remaining() const { return packed_.size(); }
  std::span<const std::byte> rest() const { return packed_; }
  std::string_view message() const { return stream_.msg != nullptr ? stream_.msg : "no details"; }

 private:
  std::span<const std::byte> packed_;
  z_stream stream_{};
};

constexpr std::size_t kFirstGuess = 64 << 10;

// Doubles up to `limit`, so that memory follows what really is there and not what a header promises.
void grow(std::vector<std::byte>& bytes, std::size_t limit) {
  const std::size_t wanted = bytes.size() > limit / 2 ? limit : bytes.size() * 2;
  bytes.resize(std::min(limit, std::max(wanted, kFirstGuess)));
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
  std::vector<std::byte> bytes;
  std::size_t size = 0;
  for (;;) {
    if (size == bytes.size()) grow(bytes, limit);
    const auto [status, produced] = inflater.run(std::span(bytes).subspan(size));
    size += produced;
    if (size > max_bytes) refuse_size(name, max_bytes, "a gzip that unpacks to more");
    const std::size_t at = packed.size() - inflater.remaining();
    if (status == Z_STREAM_END) {
      if (inflater.remaining() == 0) break;
      if (!is_gzip(inflater.rest()))
        throw Error(Fault::data,
                    "{}: expected the end of the gzip data at byte {}, found {} bytes more; fetch it again",
                    name, at, inflater.remaining());
      inflater.next_member();
    } else if (status == Z_MEM_ERROR) {
      throw Error(Fault::ours, "{}: zlib: no memory", name);
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      throw Error(Fault::data, "{}: damaged gzip at byte {}: {}; fetch it again", name, at,
                  inflater.message());
    } else if (inflater.remaining() == 0 && size < bytes.size()) {
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
