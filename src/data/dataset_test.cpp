#include "data/dataset.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "base/refusal_for_test.h"

namespace lockstep::data {
namespace {

using ::testing::ElementsAre;

const std::string kTrainImages("\0\0\x08\x03\0\0\0\x02\0\0\0\x01\0\0\0\x02\x0a\x0b\x0c\x0d",
                               20);  // two of 1x2
const std::string kTrainLabels("\0\0\x08\x01\0\0\0\x02\x03\x04", 10);
const std::string kTestImages("\0\0\x08\x03\0\0\0\x01\0\0\0\x01\0\0\0\x02\x0e\x0f", 18);  // one of 1x2
const std::string kTestLabels("\0\0\x08\x01\0\0\0\x01\x09", 9);
// `gzip -n` of kTestLabels
const std::string kTestLabelsPacked(
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x63\x60\xe0\x60\x64\x60\x60\x60\xe4\x04\x00\x89\x00\x7d\x7e\x09"
    "\x00"
    "\x00\x00",
    29);

class MnistLike : public testing::Test {
 protected:
  MnistLike() {
    std::string pattern = (std::filesystem::temp_directory_path() / "lockstep-dataset-XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
    write("train-images-idx3-ubyte", kTrainImages);
    write("train-labels-idx1-ubyte", kTrainLabels);
    write("t10k-images-idx3-ubyte", kTestImages);
    write("t10k-labels-idx1-ubyte", kTestLabels);
  }
  ~MnistLike() override { std::filesystem::remove_all(directory_); }

  void write(std::string_view name, const std::string& content) const {
    std::ofstream(directory_ / name, std::ios::binary) << content;
  }

  // What the refusal says after the directory's name.
  std::string refusal() const {
    std::string message = refusal_of(Fault::data, [&] { load_mnist_like(directory_); });
    EXPECT_EQ(message.find(directory_.string()), 0u) << message;
    return message.erase(0, directory_.string().size());
  }

  std::filesystem::path directory_;
};

TEST_F(MnistLike, LoadsBothParts) {
  const Split split = load_mnist_like(directory_);
  EXPECT_EQ(split.train.size(), 2u);
  EXPECT_EQ(split.train.channels, 1);
  EXPECT_EQ(split.train.height, 1);
  EXPECT_EQ(split.train.width, 2);
  EXPECT_EQ(split.train.classes, 10);
  EXPECT_THAT(split.train.labels, ElementsAre(3, 4));
  EXPECT_THAT(split.train.example(1), ElementsAre(12, 13));
  EXPECT_THAT(split.test.pixels, ElementsAre(14, 15));
  EXPECT_THAT(split.test.labels, ElementsAre(9));
}

TEST_F(MnistLike, PackedFilesServeAsWell) {
  const Hash128 plain = hash_of(load_mnist_like(directory_));
  std::filesystem::remove(directory_ / "t10k-labels-idx1-ubyte");
  write("t10k-labels-idx1-ubyte.gz", kTestLabelsPacked);
  EXPECT_EQ(hash_of(load_mnist_like(directory_)), plain);
}

TEST_F(MnistLike, MissingFilesAreListedWithTheRemedy) {
  std::filesystem::remove(directory_ / "train-labels-idx1-ubyte");
  std::filesystem::remove(directory_ / "t10k-images-idx3-ubyte");
  EXPECT_EQ(
      refusal(),
      ": looked for train-labels-idx1-ubyte, t10k-images-idx3-ubyte or t10k-images-idx4-ubyte, plain or "
      ".gz, and found none; get Fashion-MNIST with `apt-get install dataset-fashion-mnist`, or say with "
      "--data DIR where the files are");
}

TEST_F(MnistLike, CountsMustAgree) {
  write("train-labels-idx1-ubyte", kTestLabels);
  EXPECT_EQ(
      refusal(),
      "/train-labels-idx1-ubyte: expected 2 labels, as many as images in train-images-idx3-ubyte, found 1");
}

TEST_F(MnistLike, ImageSizesMustAgree) {
  std::string tall = kTestImages;
  tall[11] = 2;  // height
  tall[15] = 1;  // width
  write("t10k-images-idx3-ubyte", tall);
  EXPECT_EQ(
      refusal(),
      ": expected images of 1x1x2 in t10k-images-idx3-ubyte, as in train-images-idx3-ubyte, found 1x2x1");
}

TEST_F(MnistLike, ImagesMayHaveChannels) {
  for (const char* const name : {"train-images-idx3-ubyte", "t10k-images-idx3-ubyte"})
    std::filesystem::remove(directory_ / name);
  write("train-images-idx4-ubyte",
        std::string("\0\0\x08\x04\0\0\0\x02\0\0\0\x02\0\0\0\x01\0\0\0\x01\x0a\x0b\x0c\x0d", 24));
  const std::string test("\0\0\x08\x04\0\0\0\x01\0\0\0\x02\0\0\0\x01\0\0\0\x01\x0e\x0f", 22);
  write("t10k-images-idx4-ubyte", test);
  const Split split = load_mnist_like(directory_);
  EXPECT_EQ(split.train.channels, 2);
  EXPECT_EQ(split.train.height, 1);
  EXPECT_EQ(split.test.channels, 2);
  EXPECT_THAT(split.train.example(1), ElementsAre(12, 13));
  EXPECT_THAT(split.test.pixels, ElementsAre(14, 15));
  std::string wide = test;
  std::swap(wide[11], wide[19]);  // channels and width
  write("t10k-images-idx4-ubyte", wide);
  EXPECT_EQ(
      refusal(),
      ": expected images of 2x1x1 in t10k-images-idx4-ubyte, as in train-images-idx4-ubyte, found 1x1x2");
}

TEST_F(MnistLike, ALabelOutOfRangeIsRefused) {
  std::string labels = kTestLabels;
  labels.back() = 10;
  write("t10k-labels-idx1-ubyte", labels);
  EXPECT_EQ(refusal(), "/t10k-labels-idx1-ubyte: expected labels from 0 to 9, found 10 at example 0");
}

TEST(DatasetHash, IsOverPixelsAndLabelsOfTrainThenTest) {
  const Split split{.train = {.pixels = {1, 2}, .labels = {3}}, .test = {.pixels = {4, 5}, .labels = {6}}};
  const std::vector<std::uint8_t> all{1, 2, 3, 4, 5, 6};
  EXPECT_EQ(hash_of(split), hash128(std::as_bytes(std::span(all))));
}

}  // namespace
}  // namespace lockstep::data
