#include <algorithm>
#include <limits>
#include <string_view>

#include <lockstep/dataset.h>

#include "api/dataset_inside.h"
#include "base/error.h"
#include "data/class_names.h"
#include "train/checkpoint.h"

namespace lockstep {
inline namespace api {
namespace {

constexpr int kMostClasses = 256;    // a label is a byte
constexpr int kMostExtent = 16'384;  // three of them multiply without overflow

void expect_sizes(std::string_view set, const Pictures& pictures) {
  for (const int extent : {pictures.channels, pictures.height, pictures.width}) {
    if (extent < 1 || extent > kMostExtent)
      throw Error(Fault::usage, "{} pictures: expected channels, height and width of 1 to {}, found {}x{}x{}",
                  set, kMostExtent, pictures.channels, pictures.height, pictures.width);
  }
  if (pictures.classes < 1 || pictures.classes > kMostClasses)
    throw Error(Fault::usage, "{} pictures: expected 1 to {} classes, found {}", set, kMostClasses,
                pictures.classes);
}

// Either set may name the classes, for both.
std::vector<std::string> names_of(const Pictures& train, const Pictures& test) {
  const std::vector<std::string>& names = test.class_names.empty() ? train.class_names : test.class_names;
  if (names.empty()) return data::class_numbers(test.classes);
  if (!train.class_names.empty() && train.class_names != names)
    throw Error(Fault::usage, "class_names: expected the same for training and test pictures, or none");
  if (names.size() != static_cast<std::size_t>(test.classes))
    throw Error(Fault::usage, "class_names: expected {}, one a class, or none, found {}", test.classes,
                names.size());
  return names;
}

data::Dataset to_inside(std::string_view set, Pictures pictures) {
  expect_sizes(set, pictures);
  data::Dataset inside{
      pictures.channels,          pictures.height,           pictures.width, pictures.classes,
      std::move(pictures.pixels), std::move(pictures.labels)};
  if (inside.size() == 0 || inside.size() > std::numeric_limits<std::uint32_t>::max())
    throw Error(Fault::usage, "{} pictures: expected at least one label and fewer than 2^32, found {}", set,
                inside.size());
  if (inside.pixels.size() != inside.size() * inside.example_bytes())
    throw Error(Fault::usage, "{} pictures: expected {} pixels for {} labels, found {}", set,
                inside.size() * inside.example_bytes(), inside.size(), inside.pixels.size());
  const auto wrong =
      std::ranges::find_if(inside.labels, [&](std::uint8_t label) { return label >= inside.classes; });
  if (wrong != inside.labels.end())
    throw Error(Fault::usage, "{} pictures: label {}: expected a class below {}, found {}", set,
                wrong - inside.labels.begin(), inside.classes, *wrong);
  return inside;
}

}  // namespace

Dataset::Dataset(Pictures train, Pictures test) {
  std::vector<std::string> names = names_of(train, test);
  inside_ = std::make_shared<const Inside>(Inside{
      {to_inside("training", std::move(train)), to_inside("test", std::move(test))}, std::move(names)});
}

Dataset::Dataset(std::shared_ptr<const Inside> inside) : inside_(std::move(inside)) {}

std::size_t Dataset::train_size() const { return inside_->split.train.size(); }
std::size_t Dataset::test_size() const { return inside_->split.test.size(); }
const std::vector<std::string>& Dataset::class_names() const { return inside_->class_names; }
PictureSizes Dataset::picture_sizes() const {
  const data::Dataset& set = inside_->split.train;
  return {set.channels, set.height, set.width, set.classes};
}
std::string Dataset::hash() const { return to_hex(data::hash_of(inside_->split)); }
std::string Dataset::sizes() const { return to_text(train::sizes_of(inside_->split)); }

Dataset fashion_mnist(const std::filesystem::path& directory) {
  const std::filesystem::path from = directory.empty() ? data::default_fashion_mnist_directory() : directory;
  data::Split split = data::load_mnist_like(from);
  std::vector<std::string> names = data::class_names(split, from);
  return Dataset(
      std::make_shared<const Dataset::Inside>(Dataset::Inside{std::move(split), std::move(names), from}));
}

}  // namespace api
}  // namespace lockstep
