#include "data/idx.h"

#include <algorithm>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/refusal_for_test.h"

namespace lockstep::data {
namespace {

using ::testing::ElementsAre;
using Bytes = std::vector<std::byte>;

Bytes idx(std::initializer_list<std::uint32_t> words, std::initializer_list<int> values) {
  Bytes bytes;
  for (const std::uint32_t word : words)
    for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<std::byte>(word >> shift));
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

constexpr std::uint32_t kImages = 0x803, kWithChannels = 0x804, kLabels = 0x801;

std::string images_refusal(const Bytes& bytes) {
  return refusal_of(Fault::data, [&] { parse_idx_images(bytes, "images"); });
}
std::string labels_refusal(const Bytes& bytes) {
  return refusal_of(Fault::data, [&] { parse_idx_labels(bytes, "labels", 10); });
}

TEST(IdxImages, ReadsSizesAndPixels) {
  const IdxImages images = parse_idx_images(idx({kImages, 2, 1, 3}, {1, 2, 3, 4, 5, 255}), "images");
  EXPECT_EQ(images.count, 2u);
  EXPECT_EQ(images.height, 1);
  EXPECT_EQ(images.width, 3);
  EXPECT_THAT(images.pixels, ElementsAre(1, 2, 3, 4, 5, 255));
}

TEST(IdxImages, OfFourSizesHaveChannels) {
  const IdxImages images = parse_idx_images(idx({kWithChannels, 1, 3, 1, 2}, {1, 2, 3, 4, 5, 255}), "images");
  EXPECT_EQ(images.count, 1u);
  EXPECT_EQ(images.channels, 3);
  EXPECT_EQ(images.height, 1);
  EXPECT_EQ(images.width, 2);
  EXPECT_THAT(images.pixels, ElementsAre(1, 2, 3, 4, 5, 255));
}

TEST(IdxImages, TheHeaderTellsTheSizeOfTheFile) {
  for (const Bytes& whole :
       {idx({kImages, 2, 1, 1}, {1, 2}), idx({kWithChannels, 2, 2, 1, 1}, {1, 2, 3, 4})}) {
    const SizeInHeader size = idx_images_size();
    const std::size_t first = std::min(size.bytes, whole.size());
    EXPECT_EQ(size.whole_bytes(std::span(whole).first(first), "images"), whole.size());
  }
}

TEST(IdxImages, EveryTruncationIsRefused) {
  for (const Bytes& whole :
       {idx({kImages, 2, 1, 3}, {1, 2, 3, 4, 5, 6}), idx({kWithChannels, 1, 2, 1, 3}, {1, 2, 3, 4, 5, 6})}) {
    for (std::size_t size = 0; size < whole.size(); ++size)
      EXPECT_THROW(parse_idx_images(std::span(whole).first(size), "images"), Error) << size;
  }
}

TEST(IdxImages, WrongMagicIsRefused) {
  EXPECT_EQ(images_refusal(idx({kLabels, 1}, {1})),
            "images: expected IDX magic number 0x00000803 (images of unsigned bytes) or 0x00000804 (with "
            "channels), found 0x00000801; is it the right file?");
}

TEST(IdxImages, WrongLengthIsRefused) {
  EXPECT_EQ(images_refusal(idx({kImages, 1, 2, 2}, {1, 2, 3})),
            "images: expected 4 bytes after byte 16, as its sizes say, found 3; fetch it again");
  EXPECT_EQ(images_refusal(idx({kImages, 1, 2, 2}, {1, 2, 3, 4, 5})),
            "images: expected 4 bytes after byte 16, as its sizes say, found 5; fetch it again");
}

TEST(IdxImages, EmptySizesAreRefused) {
  EXPECT_EQ(images_refusal(idx({kImages, 0, 2, 2}, {})),
            "images: expected a number of images of at least 1, found 0");
  EXPECT_EQ(images_refusal(idx({kImages, 1, 0, 2}, {})),
            "images: expected an image height of at least 1, found 0");
  EXPECT_EQ(images_refusal(idx({kImages, 1, 2, 0}, {})),
            "images: expected an image width of at least 1, found 0");
  EXPECT_EQ(images_refusal(idx({kWithChannels, 1, 0, 2, 2}, {})),
            "images: expected a number of channels of at least 1, found 0");
}

TEST(IdxImages, SizesThatWouldOverflowAreRefused) {
  EXPECT_EQ(images_refusal(idx({kImages, 0xffffffff, 0xffffffff, 0xffffffff}, {})),
            "images: expected sizes of at most 1073741824 bytes in all, found 4294967295 x 4294967295");
  EXPECT_EQ(images_refusal(idx({kImages, 0x8000, 0x8000, 2}, {})),
            "images: expected sizes of at most 1073741824 bytes in all, found 1073741824 x 2");
  EXPECT_EQ(images_refusal(idx({kWithChannels, 2, 0x8000, 0x8000, 1}, {})),
            "images: expected sizes of at most 1073741824 bytes in all, found 65536 x 32768");
}

TEST(IdxLabels, Reads) {
  EXPECT_THAT(parse_idx_labels(idx({kLabels, 3}, {0, 9, 5}), "labels", 10), ElementsAre(0, 9, 5));
}

TEST(IdxLabels, ALabelBeyondTheClassesIsRefused) {
  EXPECT_EQ(labels_refusal(idx({kLabels, 3}, {0, 9, 10})),
            "labels: expected labels from 0 to 9, found 10 at example 2");
}

TEST(IdxLabels, WrongFilesAreRefused) {
  EXPECT_EQ(
      labels_refusal(idx({kImages, 1, 1, 1}, {0})),
      "labels: expected IDX magic number 0x00000801 (labels of unsigned bytes), found 0x00000803; is it the "
      "right file?");
  EXPECT_EQ(labels_refusal(idx({kLabels, 2}, {0})),
            "labels: expected 2 bytes after byte 8, as its sizes say, found 1; fetch it again");
  EXPECT_EQ(labels_refusal(idx({kLabels}, {})),
            "labels: at byte 4: expected a number of labels (4 bytes), found 0 bytes before the end");
  EXPECT_EQ(labels_refusal({}),
            "labels: at byte 0: expected the IDX magic number (4 bytes), found 0 bytes before the end");
}

}  // namespace
}  // namespace lockstep::data
