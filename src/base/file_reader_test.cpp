#include "base/file_reader.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/refusal_for_test.h"

namespace lockstep {
namespace {

using ::testing::HasSubstr;

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto view = std::as_bytes(std::span(text));
  return {view.begin(), view.end()};
}

std::vector<std::byte> gzip(std::string_view text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::vector<std::byte> packed(deflateBound(&stream, text.size()));
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

class FileReader : public testing::Test {
 protected:
  FileReader() {
    std::string pattern = (std::filesystem::temp_directory_path() / "lockstep-file-reader-XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
  }
  ~FileReader() override { std::filesystem::remove_all(directory_); }

  std::filesystem::path file(std::string_view name, std::span<const std::byte> bytes) const {
    const std::filesystem::path path = directory_ / name;
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return path;
  }

  std::filesystem::path directory_;
};

// A file of `whole` bytes whose header is its first byte, if there is one.
SizeInHeader of_size(std::size_t whole) {
  return {1, [whole](std::span<const std::byte>, std::string_view) { return whole; }};
}

TEST_F(FileReader, ReadsPlainAndGzipWhateverTheName) {
  const std::string text = std::string(200000, 'a') + "end";
  EXPECT_EQ(read_file(file("plain.gz", bytes_of(text)), of_size(text.size())), bytes_of(text));
  EXPECT_EQ(read_file(file("packed", gzip(text)), of_size(text.size())), bytes_of(text));
  EXPECT_EQ(read_raw_file(file("packed", gzip(text)), 1000), gzip(text));
  EXPECT_TRUE(read_file(file("empty", {}), of_size(0)).empty());
}

TEST_F(FileReader, ReadsWhatIsLargerThanItsFirstLook) {
  std::string text;
  for (std::uint32_t i = 0, state = 1; i < 300'000; ++i) {  // noise, which no packer makes smaller
    state = state * 1664525 + 1013904223;
    text += static_cast<char>(state >> 24);
    text += static_cast<char>(state >> 16);
    text += static_cast<char>(state >> 8);
  }
  EXPECT_EQ(read_file(file("plain", bytes_of(text)), of_size(text.size())), bytes_of(text));
  EXPECT_EQ(read_file(file("packed", gzip(text)), of_size(text.size())), bytes_of(text));
}

TEST_F(FileReader, RefusesOneByteMoreThanTheLimit) {
  EXPECT_EQ(read_raw_file(file("a", bytes_of("12345")), 5).size(), 5u);
  EXPECT_THAT(refusal_of(Fault::data, [&] { read_raw_file(file("a", bytes_of("123456")), 5); }),
              HasSubstr("/a: expected at most 5 bytes, found 6"));
  EXPECT_THAT(refusal_of(Fault::data, [&] { read_file(file("a", bytes_of("123456")), of_size(5)); }),
              HasSubstr("/a: expected 5 bytes, as its header says, found 6"));
  EXPECT_THAT(refusal_of(Fault::data, [&] { read_file(file("a", gzip("123456")), of_size(5)); }),
              HasSubstr("/a: expected at most 5 bytes, found a gzip that unpacks to more"));
}

// 2^40 bytes take no room on disk, and no memory holds them.
TEST_F(FileReader, JudgesTheHeaderBeforeTheRestIsRead) {
  for (const std::vector<std::byte>& start : {bytes_of("plain"), gzip("packed")}) {
    const std::filesystem::path path = file("a", start);
    std::filesystem::resize_file(path, std::uintmax_t{1} << 40);
    const SizeInHeader refusing{
        1, [](std::span<const std::byte> header, std::string_view name) -> std::size_t {
          throw Error(Fault::data, "{} begins with {}", name, static_cast<char>(header[0]));
        }};
    EXPECT_EQ(refusal_of(Fault::data, [&] { read_file(path, refusing); }), path.string() + " begins with p");
    EXPECT_THAT(refusal_of(Fault::data, [&] { read_file(path, of_size(1000)); }),
                HasSubstr("found 1099511627776"));
  }
}

TEST(Gzip, ExactlyTheLimitPassesAndOneMoreIsRefused) {
  const std::string text(1000, 'z');
  EXPECT_EQ(unpack_gzip(gzip(text), "f", 1000), bytes_of(text));
  EXPECT_EQ(refusal_of(Fault::data, [&] { unpack_gzip(gzip(text), "f", 999); }),
            "f: expected at most 999 bytes, found a gzip that unpacks to more");
  EXPECT_TRUE(unpack_gzip(gzip(""), "f", 0).empty());
}

TEST(Gzip, MembersJoin) {
  std::vector<std::byte> packed = gzip("one ");
  const std::vector<std::byte> second = gzip("two");
  packed.insert(packed.end(), second.begin(), second.end());
  EXPECT_EQ(unpack_gzip(packed, "f", 100), bytes_of("one two"));
}

TEST(Gzip, EveryTruncationIsRefused) {
  const std::vector<std::byte> packed = gzip("some text that does not repeat: 0123456789");
  for (std::size_t size = 0; size < packed.size(); ++size)
    EXPECT_THAT(refusal_of(Fault::data, [&] { unpack_gzip(std::span(packed).first(size), "f", 1000); }),
                HasSubstr("f: truncated gzip"))
        << size;
}

TEST(Gzip, DamageIsRefused) {
  std::vector<std::byte> packed = gzip("some text");
  packed[packed.size() - 5] ^= std::byte{1};  // the checksum
  EXPECT_THAT(refusal_of(Fault::data, [&] { unpack_gzip(packed, "f", 1000); }),
              HasSubstr("damaged gzip at byte"));
  packed = gzip("some text");
  packed[2] = std::byte{7};  // not deflate
  EXPECT_THAT(refusal_of(Fault::data, [&] { unpack_gzip(packed, "f", 1000); }),
              HasSubstr("damaged gzip at byte"));
}

// The decoder reads ahead; here it goes back behind where it was last told to begin.
TEST(Gzip, DamageThatIsSeenLateIsRefused) {
  constexpr unsigned char kPacked[] = {0x1f, 0x8b, 0x08, 0x00, 0xed, 0x86, 0x0a, 0xda, 0x5e,
                                       0x00, 0x03, 0x2d, 0x9a, 0xed, 0x01, 0x8b, 0x5b, 0x96,
                                       0xfc, 0x67, 0x78, 0x33, 0xd9, 0xef, 0xbd, 0x51};
  EXPECT_THAT(refusal_of(Fault::data, [&] { unpack_gzip(std::as_bytes(std::span(kPacked)), "f", 1 << 20); }),
              HasSubstr("f: damaged gzip at byte"));
}

TEST(Gzip, BytesAfterTheEndAreRefused) {
  std::vector<std::byte> packed = gzip("some text");
  const std::size_t end = packed.size();
  packed.push_back(std::byte{0});
  EXPECT_EQ(refusal_of(Fault::data, [&] { unpack_gzip(packed, "f", 1000); }),
            "f: expected the end of the gzip data at byte " + std::to_string(end) +
                ", found 1 bytes more; fetch it again");
}

TEST(ByteReader, ReadsBothByteOrders) {
  const std::vector<std::byte> bytes = bytes_of("\x01\x02\x03\x04\x05\x06\x07\x08\xff\xfe");
  ByteReader big(bytes, "f");
  EXPECT_EQ(big.big_endian<std::uint32_t>("a"), 0x01020304u);
  EXPECT_EQ(big.big_endian<std::uint16_t>("a"), 0x0506u);
  EXPECT_EQ(big.offset(), 6u);
  EXPECT_EQ(big.remaining(), 4u);
  ByteReader little(bytes, "f");
  EXPECT_EQ(little.little_endian<std::uint64_t>("a"), 0x0807060504030201u);
  EXPECT_EQ(little.little_endian<std::uint8_t>("a"), 0xffu);
  EXPECT_EQ(little.take(1, "a")[0], std::byte{0xfe});
}

TEST(ByteReader, NamesFileOffsetAndWhatWasExpected) {
  const std::vector<std::byte> bytes = bytes_of("12345");
  ByteReader reader(bytes, "some.idx");
  reader.take(2, "start");
  EXPECT_EQ(refusal_of(Fault::data, [&] { reader.big_endian<std::uint32_t>("the number of images"); }),
            "some.idx: at byte 2: expected the number of images (4 bytes), found 3 bytes before the end");
  EXPECT_EQ(reader.offset(), 2u);
}

}  // namespace
}  // namespace lockstep
