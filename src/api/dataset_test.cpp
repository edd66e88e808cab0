#include <cstdlib>

#include <gtest/gtest.h>
#include <lockstep/dataset.h>

#include "api/convert.h"
#include "api/pictures_for_test.h"
#include "base/error.h"
#include "base/refusal_for_test.h"

namespace lockstep {
inline namespace api {
namespace {

std::string refusal_of(const Pictures& train, const Pictures& test) {
  return refusal_of(Fault::usage, [&] { const Dataset taken(train, test); });
}

TEST(Dataset, TakesOwnArrays) {
  const Dataset data = some_data();
  EXPECT_EQ(data.train_size(), 100U);
  EXPECT_EQ(data.test_size(), 40U);
  EXPECT_EQ(data.hash(), some_data().hash());
  EXPECT_NE(data.hash(), Dataset(some_pictures(100), some_pictures(41)).hash());
}

TEST(Dataset, SizesTellWhereTheTrainingSetEnds) {
  const auto constant = [](std::size_t count) {
    return Pictures{.pixels = std::vector<std::uint8_t>(count * 784),
                    .labels = std::vector<std::uint8_t>(count)};
  };
  const Dataset one(constant(20), constant(10)), other(constant(10), constant(20));
  EXPECT_EQ(one.hash(), other.hash());
  EXPECT_EQ(one.sizes(), "20 + 10 pictures of 1x28x28, 10 classes");
  EXPECT_EQ(other.sizes(), "10 + 20 pictures of 1x28x28, 10 classes");
  EXPECT_EQ(to_inside(zoo_model("resnet8", one.picture_sizes())).input, (model::Shape{1, 28, 28}));
}

TEST(Dataset, RefusesWhatDoesNotFit) {
  const Pictures good = some_pictures(3);
  Pictures bad = good;
  bad.pixels.pop_back();
  EXPECT_EQ(refusal_of(bad, good), "training pictures: expected 2352 pixels for 3 labels, found 2351");
  bad = good;
  bad.labels[1] = 10;
  EXPECT_EQ(refusal_of(good, bad), "test pictures: label 1: expected a class below 10, found 10");
  bad = good;
  bad.width = 0;
  EXPECT_EQ(refusal_of(good, bad),
            "test pictures: expected channels, height and width of 1 to 16384, found 1x28x0");
  EXPECT_EQ(refusal_of(Pictures{}, good),
            "training pictures: expected at least one label and fewer than 2^32, found 0");
  bad = good;
  bad.classes = 257;
  EXPECT_EQ(refusal_of(good, bad), "test pictures: expected 1 to 256 classes, found 257");
}

TEST(Dataset, ClassesAreCalledAsEitherSetSays) {
  const std::vector<std::string> numbers{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
  const std::vector<std::string> letters{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
  EXPECT_EQ(some_data().class_names(), numbers);
  Pictures plain = some_pictures(3), named = plain;
  named.class_names = letters;
  EXPECT_EQ(Dataset(plain, named).class_names(), letters);
  EXPECT_EQ(Dataset(named, plain).class_names(), letters);
  plain.class_names = numbers;
  EXPECT_EQ(refusal_of(plain, named),
            "class_names: expected the same for training and test pictures, or none");
  named.class_names = plain.class_names = {"a", "b"};
  EXPECT_EQ(refusal_of(plain, named), "class_names: expected 10, one a class, or none, found 2");
}

TEST(Dataset, ARefusalHasItsExitCode) {
  try {
    const Dataset taken(Pictures{}, Pictures{});
    FAIL() << "taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), 2);
  }
}

TEST(Dataset, FilesThatAreNotFashionMnistHaveNumbersOrTheNamesBesideThem) {
  std::string folder = testing::TempDir() + "lockstep-dataset-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  write_some_data(folder);
  EXPECT_EQ(fashion_mnist(folder).hash(), some_data().hash());
  EXPECT_EQ(fashion_mnist(folder).class_names(), some_data().class_names());
  std::ofstream(folder + "/classes.txt") << "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n";
  EXPECT_EQ(fashion_mnist(folder).class_names(),
            (std::vector<std::string>{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}));
  std::filesystem::remove_all(folder);
  EXPECT_EQ(fashion_mnist().class_names().back(), "ankle boot");
}

TEST(Dataset, NamesTheFileThatIsMissing) {
  const std::string said = refusal_of(Fault::data, [] { fashion_mnist("/nowhere"); });
  EXPECT_NE(said.find("/nowhere"), std::string::npos) << said;
}

}  // namespace
}  // namespace api
}  // namespace lockstep
