#include "data/dataset.h"

#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/file_reader.h"
#include "data/idx.h"

namespace lockstep::data {
namespace {

namespace fs = std::filesystem;

constexpr int kClasses = 10;

struct FilePair {
  std::string_view images, labels;
};
constexpr FilePair kTrain{"train-images-idx3-ubyte", "train-labels-idx1-ubyte"};
constexpr FilePair kTest{"t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"};

// The plain file or its .gz; empty if there is neither.
fs::path find(const fs::path& directory, std::string_view name) {
  for (const std::string_view ending : {"", ".gz"}) {
    fs::path path = directory / fmt::format("{}{}", name, ending);
    std::error_code ignored;  // what cannot be looked at is not there
    if (fs::exists(path, ignored)) return path;
  }
  return {};
}

void expect_all_files(const fs::path& directory) {
  std::vector<std::string_view> missing;
  for (const std::string_view name : {kTrain.images, kTrain.labels, kTest.images, kTest.labels})
    if (find(directory, name).empty()) missing.push_back(name);
  if (!missing.empty())
    throw Error(Fault::data,
                "{}: looked for {}, plain or .gz, and found none; get Fashion-MNIST with `apt-get install "
                "dataset-fashion-mnist`, or say with --data DIR where the files are",
                directory.string(), fmt::join(missing, ", "));
}

Dataset load(const fs::path& directory, const FilePair& names) {
  const fs::path images_path = find(directory, names.images), labels_path = find(directory, names.labels);
  IdxImages images = parse_idx_images(read_file(images_path, idx_images_size()), images_path.string());
  Dataset set{
      .channels = 1,
      .height = images.height,
      .width = images.width,
      .classes = kClasses,
      .pixels = std::move(images.pixels),
      .labels = parse_idx_labels(read_file(labels_path, idx_labels_size()), labels_path.string(), kClasses)};
  if (set.labels.size() != images.count)
    throw Error(Fault::data, "{}: expected {} labels, as many as images in {}, found {}",
                labels_path.string(), images.count, images_path.filename().string(), set.labels.size());
  return set;
}

}  // namespace

Hash128 hash_of(const Split& split) {
  Hasher128 hasher;
  for (const Dataset* set : {&split.train, &split.test}) {
    hasher.add(std::as_bytes(std::span(set->pixels)));
    hasher.add(std::as_bytes(std::span(set->labels)));
  }
  return hasher.digest();
}

fs::path default_fashion_mnist_directory() { return "/usr/share/datasets/fashion-mnist"; }

Split load_mnist_like(const fs::path& directory) {
  expect_all_files(directory);
  Split split{.train = load(directory, kTrain), .test = load(directory, kTest)};
  if (split.train.height != split.test.height || split.train.width != split.test.width)
    throw Error(Fault::data, "{}: expected images of {}x{} in {}, as in {}, found {}x{}", directory.string(),
                split.train.height, split.train.width, kTest.images, kTrain.images, split.test.height,
                split.test.width);
  return split;
}

}  // namespace lockstep::data
