// Pictures and their classes, to train with and to test on.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <lockstep/model.h>

namespace lockstep {
inline namespace api {

// Pictures as bytes, from anywhere.
struct Pictures {
  int channels = 1, height = 28, width = 28;
  int classes = 10;
  std::vector<std::uint8_t> pixels = {};  // [example][channel][y][x]
  std::vector<std::uint8_t> labels = {};  // [example], below classes

  std::vector<std::string> class_names = {};  // one a class, in either set; none: numbers
};

// Does not change; a copy shares the memory.
class Dataset {
 public:
  // Throws Error(usage) where numbers do not fit: of pixels and labels, of the two sets.
  Dataset(Pictures train, Pictures test);

  std::size_t train_size() const;
  std::size_t test_size() const;

  // One a class; "0", "1", ... where nothing names them.
  const std::vector<std::string>& class_names() const;

  // 32 hex digits over all pixels and labels, one after the other. With sizes() this is what the bits of a
  // training depend on.
  std::string hash() const;

  // Of the pictures, for zoo_model().
  PictureSizes picture_sizes() const;

  // "60000 + 10000 pictures of 1x28x28, 10 classes": training set and test set.
  std::string sizes() const;

  struct Inside;
  explicit Dataset(std::shared_ptr<const Inside> inside);
  const Inside& inside() const { return *inside_; }

 private:
  std::shared_ptr<const Inside> inside_;
};

// The four IDX files, plain or .gz, of Fashion-MNIST or a set like it, with channels or without. Without a
// directory: where Debian's package dataset-fashion-mnist puts them. Classes are called as in Fashion-MNIST
// if the data is Fashion-MNIST, as the lines of a file classes.txt beside the data say if there is one, and
// are numbers else. Throws Error(data) naming the file.
Dataset fashion_mnist(const std::filesystem::path& directory = {});

}  // namespace api
}  // namespace lockstep
