#include "data/class_names.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "base/refusal_for_test.h"

namespace lockstep::data {
namespace {

using ::testing::ElementsAre;

class ClassNames : public testing::Test {
 protected:
  ClassNames() {
    std::string pattern = (std::filesystem::temp_directory_path() / "lockstep-names-XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
  }
  ~ClassNames() override { std::filesystem::remove_all(directory_); }

  void write(const std::string& content) const {
    std::ofstream(directory_ / kClassNamesFile, std::ios::binary) << content;
  }

  std::vector<std::string> names() const { return class_names(split_, directory_); }

  // What the refusal says after the file's name.
  std::string refusal(const std::string& content) const {
    write(content);
    const std::string file = (directory_ / kClassNamesFile).string();
    std::string message = refusal_of(Fault::data, [&] { names(); });
    EXPECT_EQ(message.find(file), 0U) << message;
    return message.erase(0, file.size());
  }

  const Split split_{.train = {.classes = 3, .pixels = {}, .labels = {0, 1, 2}},
                     .test = {.classes = 3, .pixels = {}, .labels = {2}}};
  std::filesystem::path directory_;
};

TEST_F(ClassNames, AreNumbersWhereNothingNamesThem) { EXPECT_THAT(names(), ElementsAre("0", "1", "2")); }

TEST_F(ClassNames, StandInAFileOneALine) {
  write("cat\ntea pot\ndog\n");
  EXPECT_THAT(names(), ElementsAre("cat", "tea pot", "dog"));
  write("  cat\r\ntea pot\r\ndog \r\n\r\n");  // as other systems and editors leave it
  EXPECT_THAT(names(), ElementsAre("cat", "tea pot", "dog"));
  write("cat\nKätzchen\ndog");
  EXPECT_THAT(names(), ElementsAre("cat", "Kätzchen", "dog"));
}

TEST_F(ClassNames, AFileMustNameEveryClassOnce) {
  EXPECT_EQ(refusal("cat\ndog\n"), ": expected 3 names, one a line, as many as there are classes, found 2");
  EXPECT_EQ(refusal("a\nb\nc\nd\n"), ": expected 3 names, one a line, as many as there are classes, found 4");
  EXPECT_EQ(refusal(""), ": expected 3 names, one a line, as many as there are classes, found 0");
  EXPECT_EQ(refusal("cat\n\ndog\n"), ": line 2: expected the name of a class, found \"\"");
  EXPECT_EQ(refusal("cat\n\x1b[31m\ndog\n"), ": line 2: expected the name of a class, found \"\\x1b[31m\"");
  EXPECT_EQ(refusal("cat\ndog\ncat\n"), ": line 3: 'cat' is there twice; name each class once");
}

TEST_F(ClassNames, AFileThatCannotBeReadIsNotPassedOver) {
  std::filesystem::create_directory(directory_ / kClassNamesFile);
  EXPECT_THAT(refusal_of(Fault::data, [&] { names(); }), testing::HasSubstr(kClassNamesFile));
}

TEST(FashionMnist, IsToldByItsLabelsAlone) {
  const std::filesystem::path directory = default_fashion_mnist_directory();
  Split split = load_mnist_like(directory);
  EXPECT_TRUE(is_fashion_mnist(split));
  EXPECT_THAT(class_names(split, "/nowhere"), testing::Contains("ankle boot"));
  split.test.labels.back() ^= 1;
  EXPECT_FALSE(is_fashion_mnist(split));
  EXPECT_THAT(class_names(split, directory), ElementsAre("0", "1", "2", "3", "4", "5", "6", "7", "8", "9"));
}

}  // namespace
}  // namespace lockstep::data
