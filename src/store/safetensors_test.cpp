#include <bit>
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/refusal_for_test.h"
#include "store/tensor_file.h"

namespace lockstep::store {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A file of that header and as many bytes after it.
std::string file_of(std::string_view header, std::size_t buffer_bytes) {
  std::string bytes;
  for (int shift = 0; shift < 64; shift += 8)
    bytes += static_cast<char>(std::uint64_t{header.size()} >> shift);
  bytes += header;
  return bytes + std::string(buffer_bytes, '\0');
}

TensorFile parse(std::string_view bytes) { return parse_tensor_file(std::as_bytes(std::span(bytes)), "f"); }

std::string refusal(std::string_view bytes) {
  return refusal_of(Fault::data, [&] { parse(bytes); });
}
std::string refusal(std::string_view header, std::size_t buffer_bytes) {
  return refusal(file_of(header, buffer_bytes));
}

class Written : public testing::Test {
 protected:
  Written() {
    std::string pattern = (std::filesystem::temp_directory_path() / "lockstep-safetensors-XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
    path_ = directory_ / "a.safetensors";
  }
  ~Written() override { std::filesystem::remove_all(directory_); }

  std::string content() const {
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  std::filesystem::path directory_, path_;
};

TEST_F(Written, IsByteForByteTheFormat) {
  write_tensor_file(path_, {.tensors = {{.name = "w", .shape = {2, 1}, .values = {1.0f, -2.5f}},
                                        {.name = "b", .shape = {1}, .values = {0.0f}}},
                            .metadata = {{"format", "pt"}, {"epoch", "\"3\""}}});
  const std::string header = R"({"__metadata__":{"epoch":"\"3\"","format":"pt"},)"
                             R"("b":{"data_offsets":[8,12],"dtype":"F32","shape":[1]},)"
                             R"("w":{"data_offsets":[0,8],"dtype":"F32","shape":[2,1]}})"
                             "   ";
  ASSERT_EQ(header.size(), 160u);
  EXPECT_EQ(content(), std::string("\xa0\0\0\0\0\0\0\0", 8) + header +
                           std::string("\x00\x00\x80\x3f\x00\x00\x20\xc0\x00\x00\x00\x00", 12));
}

TEST_F(Written, ReadsBackInTheSameOrderWithTheSameBits) {
  const float nan = std::bit_cast<float>(0x7fc12345u), denormal = std::bit_cast<float>(1u);
  write_tensor_file(path_, {.tensors = {{.name = "z", .shape = {3}, .values = {nan, denormal, -0.0f}},
                                        {.name = "a\"\n\u00e9", .shape = {}, .values = {4.0f}},
                                        {.name = "none", .shape = {5, 0}, .values = {}}},
                            .metadata = {{"k", "v"}}});
  const TensorFile file = read_tensor_file(path_);
  ASSERT_EQ(file.tensors.size(), 3u);
  EXPECT_EQ(file.tensors[0].name, "z");
  EXPECT_EQ(std::bit_cast<std::uint32_t>(file.tensors[0].values[0]), 0x7fc12345u);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(file.tensors[0].values[1]), 1u);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(file.tensors[0].values[2]), 0x80000000u);
  EXPECT_EQ(file.tensors[1].name, "a\"\n\u00e9");
  EXPECT_TRUE(file.tensors[1].shape.empty());
  EXPECT_THAT(file.tensors[1].values, ElementsAre(4.0f));
  EXPECT_THAT(file.tensors[2].shape, ElementsAre(5, 0));
  EXPECT_EQ(file.metadata, (std::map<std::string, std::string>{{"k", "v"}}));
}

TEST_F(Written, NothingAtAllIsAFileToo) {
  write_tensor_file(path_, {});
  EXPECT_EQ(content(), std::string("\x08\0\0\0\0\0\0\0{}      ", 16));
  EXPECT_TRUE(read_tensor_file(path_).tensors.empty());
}

TEST_F(Written, WhatCannotBeWrittenIsADefect) {
  const Tensor one{.name = "w", .shape = {1}, .values = {1.0f}};
  EXPECT_THROW(write_tensor_file(path_, {.tensors = {one, one}, .metadata = {}}), Error);
  EXPECT_THROW(
      write_tensor_file(path_, {.tensors = {{.name = "w", .shape = {2}, .values = {1.0f}}}, .metadata = {}}),
      Error);
  EXPECT_THROW(write_tensor_file(path_, {.tensors = {{.name = "__metadata__", .shape = {0}, .values = {}}},
                                         .metadata = {}}),
               Error);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST(Safetensors, AcceptsTensorsInAnyOrderOfTheHeader) {
  const TensorFile file = parse(file_of(R"({"b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]},
                                            "a":{"shape":[1],"dtype":"F32","data_offsets":[0,4]}} )",
                                        8));
  ASSERT_EQ(file.tensors.size(), 2u);
  EXPECT_EQ(file.tensors[0].name, "a");
  EXPECT_EQ(file.tensors[1].name, "b");
}

TEST(Safetensors, HeaderSizeIsChecked) {
  EXPECT_EQ(refusal("1234567"),
            "f: at byte 0: expected the header's size (8 bytes), found 7 bytes before the end");
  EXPECT_EQ(refusal(std::string("\x03\0\0\0\0\0\0\0{}", 10)),
            "f: at byte 8: expected the header (3 bytes), found 2 bytes before the end");
  EXPECT_EQ(refusal(std::string("\0\0\0\0\0\0\0\x80{}", 10)),
            "f: expected a header of at most 100000000 bytes, found 9223372036854775808; is it a safetensors "
            "file?");
}

TEST(Safetensors, HeaderMustBeJson) {
  EXPECT_EQ(refusal("", 0),
            "f: expected a header that starts with '{', found \"\"; is it a safetensors file?");
  EXPECT_EQ(refusal(" {}", 0),
            "f: expected a header that starts with '{', found \" \"; is it a safetensors file?");
  EXPECT_EQ(refusal("{} x", 0), "f: expected a header of valid UTF-8 JSON, found an error at its byte 4");
  EXPECT_EQ(refusal("{\"\xff\":1}", 0),
            "f: expected a header of valid UTF-8 JSON, found an error at its byte 3");
  EXPECT_EQ(refusal(std::string_view("{}\0 ", 4), 0),
            "f: expected a header of valid UTF-8 JSON, found a zero byte at its byte 3");
}

TEST(Safetensors, KeysComeOnce) {
  EXPECT_EQ(refusal(R"({"a":{"dtype":"F32","shape":[],"data_offsets":[0,4]},"a":{}})", 4),
            "f: header: expected every key once, found \"a\" twice");
  EXPECT_EQ(refusal(R"({"a":{"dtype":"F32","dtype":"F32"}})", 4),
            "f: tensor \"a\": expected every key once, found \"dtype\" twice");
  EXPECT_EQ(refusal(R"({"__metadata__":{"k":"1","k":"2"}})", 0),
            "f: __metadata__: expected every key once, found \"k\" twice");
  EXPECT_EQ(refusal(R"({"__metadata__":{},"__metadata__":{}})", 0),
            "f: header: expected every key once, found \"__metadata__\" twice");
}

TEST(Safetensors, MetadataIsStrings) {
  EXPECT_EQ(refusal(R"({"__metadata__":{"k":1}})", 0),
            "f: header: expected a string in __metadata__, found a number");
  EXPECT_EQ(refusal(R"({"__metadata__":"k"})", 0),
            "f: header: expected an object of strings as __metadata__, found a string");
  EXPECT_EQ(refusal(R"({"__metadata__":{"k":{}}})", 0),
            "f: header: expected a string in __metadata__, found an object");
}

TEST(Safetensors, ATensorIsThreeFields) {
  EXPECT_EQ(refusal(R"({"a":{"dtype":"F32","shape":[]}})", 0),
            "f: tensor \"a\": expected dtype, shape and data_offsets, found no data_offsets");
  EXPECT_EQ(refusal(R"({"a":{}})", 0),
            "f: tensor \"a\": expected dtype, shape and data_offsets, found no dtype");
  EXPECT_EQ(refusal(R"({"a":{"dtype":"F32","size":[]}})", 0),
            "f: tensor \"a\": expected dtype, shape and data_offsets, found the key \"size\"");
  EXPECT_EQ(refusal(R"({"a":[1]})", 0), "f: tensor \"a\": expected an object, found an array");
  EXPECT_EQ(refusal(R"({"a":{"dtype":32}})", 0),
            "f: tensor \"a\": expected a string as dtype, found a number");
  EXPECT_EQ(refusal(R"({"a":{"shape":[[1]]}})", 0),
            "f: tensor \"a\": expected an array of whole numbers as shape, found an array");
  EXPECT_EQ(refusal(R"({"a":{"shape":[-1]}})", 0),
            "f: tensor \"a\": expected an array of whole numbers as shape, found a negative number");
  EXPECT_EQ(
      refusal(R"({"a":{"shape":[1.0]}})", 0),
      "f: tensor \"a\": expected an array of whole numbers as shape, found a fraction or a number too large");
  EXPECT_EQ(
      refusal(R"({"a":{"data_offsets":[18446744073709551616]}})", 0),
      "f: tensor \"a\": expected an array of two whole numbers as data_offsets, found a fraction or a number "
      "too large");
  EXPECT_EQ(refusal(R"({"a":{"data_offsets":[0]}})", 0),
            "f: tensor \"a\": expected two data_offsets, found 1");
  EXPECT_EQ(refusal(R"({"a":{"data_offsets":[0,4,8]}})", 0),
            "f: tensor \"a\": expected two data_offsets, found 3");
  EXPECT_EQ(refusal(R"({"a":null})", 0), "f: tensor \"a\": expected an object, found null");
}

TEST(Safetensors, OtherTypesAreRefusedByName) {
  EXPECT_EQ(refusal(R"({"a":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]}})", 4),
            "f: tensor \"a\": expected dtype F32, found \"BF16\"; convert it first");
}

TEST(Safetensors, OffsetsFitTheFileAndTheShape) {
  EXPECT_EQ(refusal(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 4),
            "f: tensor \"a\": expected rising data_offsets of at most 4, found [0, 8]");
  EXPECT_EQ(refusal(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", 4),
            "f: tensor \"a\": expected rising data_offsets of at most 4, found [4, 0]");
  EXPECT_EQ(refusal(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4),
            "f: tensor \"a\": expected 8 bytes by its shape, found 4 by its data_offsets");
}

TEST(Safetensors, ShapesThatWouldOverflowAreRefused) {
  const std::string_view message =
      "f: tensor \"a\": expected a shape of at most 9223372036854775807 bytes, found more";
  EXPECT_EQ(refusal(R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0),
            message);
  EXPECT_EQ(refusal(R"({"a":{"dtype":"F32","shape":[4611686018427387904],"data_offsets":[0,0]}})", 0),
            message);
  EXPECT_EQ(refusal(R"({"a":{"dtype":"F32","shape":[0,18446744073709551615],"data_offsets":[0,0]}})", 0),
            message);
}

TEST(Safetensors, TensorsCoverTheBufferOnce) {
  const std::string_view a = R"("a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]})";
  const auto with_b = [&](std::string_view offsets) {
    return fmt::format("{{{},\"b\":{{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":{}}}}}", a, offsets);
  };
  EXPECT_EQ(parse(file_of(with_b("[4,8]"), 8)).tensors.size(), 2u);
  EXPECT_EQ(refusal(with_b("[8,12]"), 12),
            "f: tensor \"b\": expected to begin at 4 where the one before ends, found 8 (a hole)");
  EXPECT_EQ(refusal(with_b("[2,6]"), 8),
            "f: tensor \"b\": expected to begin at 4 where the one before ends, found 2 (an overlap)");
  EXPECT_EQ(refusal(with_b("[0,4]"), 4),
            "f: tensor \"b\": expected to begin at 4 where the one before ends, found 0 (an overlap)");
  EXPECT_EQ(refusal(with_b("[4,8]"), 9), "f: expected 8 bytes of tensors after the header, found 9");
  EXPECT_EQ(refusal("{}", 1), "f: expected 0 bytes of tensors after the header, found 1");
}

TEST(Safetensors, NamesStayOnOneLineInErrors) {
  EXPECT_THAT(refusal(R"({"a\nb":{}})", 0), HasSubstr(R"(tensor "a\nb")"));
}

TEST_F(Written, AFileOfAnotherSizeThanItsHeaderSaysIsRefusedUnread) {
  write_tensor_file(path_,
                    {.tensors = {{.name = "w", .shape = {2}, .values = {1.0f, -2.5f}}}, .metadata = {}});
  const std::size_t header = tensor_file_header(read_tensor_file(path_)).size();
  std::filesystem::resize_file(path_, header + (std::uintmax_t{1} << 35));  // takes no room on disk
  EXPECT_EQ(refusal_of(Fault::data, [&] { read_tensor_file(path_); }),
            path_.string() + ": expected 8 bytes of tensors after the header, found 34359738368");
  std::filesystem::resize_file(path_, std::uintmax_t{1} << 40);
  EXPECT_THAT(refusal_of(Fault::data, [&] { read_tensor_file(path_); }),
              HasSubstr(": expected at most 68719476736 bytes after the header, found "));
}

TEST_F(Written, AHeaderLargerThanItsFileTakesNoMemory) {
  std::ofstream(path_, std::ios::binary) << std::string("\x00\xe1\xf5\x05\0\0\0\0{}", 10);  // 100,000,000
  EXPECT_EQ(
      refusal_of(Fault::data, [&] { read_tensor_file(path_); }),
      path_.string() + ": at byte 8: expected the header (100000000 bytes), found 2 bytes before the end");
}

}  // namespace
}  // namespace lockstep::store
