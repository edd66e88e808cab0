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
  std::string_view images, images_with_channels, labels;
};
constexpr FilePair kTrain{"train-images-idx3-ubyte", "train-images-idx4-ubyte", "train-labels-idx1-ubyte"};
constexpr FilePair kTest{"t10k-images-idx3-ubyte", "t10k-images-idx4-ubyte", "t10k-labels-idx1-ubyte"};

// The plain file or its .gz; empty if there is neither.
fs::path find(const fs::path& directory, std::string_view name) {
  for (const std::string_view ending : {"", ".gz"}) {
    fs::path path = directory / fmt::format("{}{}", name, ending);
    std::error_code ignored;  // what cannot be looked at is not there
    if (fs::exists(path, ignored)) return path;
  }
  return {};
}

fs::path find_images(const fs::path& directory, const FilePair& names) {
  fs::path without = find(directory, names.images);
  return without.empty() ? find(directory, names.images_with_channels) : without;
}

void expect_all_files(const fs::path& directory) {
  std::vector<std::string> missing;
  for (const FilePair& pair : {kTrain, kTest}) {
    if (find_images(directory, pair).empty())
      missing.push_back(fmt::format("{} or {}", pair.images, pair.images_with_channels));
    if (find(directory, pair.labels).empty()) missing.emplace_back(pair.labels);
  }
  if (!missing.empty())
    throw Error(Fault::data,
                "{}: looked for {}, plain or .gz, and found none; get Fashion-MNIST with `apt-get install "
                "dataset-fashion-mnist`, or say with --data DIR where the files are",
                directory.string(), fmt::join(missing, ", "));
}

Dataset load(const fs::path& directory, const FilePair& names) {
  const fs::path images_path = find_images(directory, names), labels_path = find(directory, names.labels);
  IdxImages images = parse_idx_images(read_file(images_path, idx_images_size()), images_path.string());
  Dataset set{
      .channels = images.channels,
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
  const auto size = [](const Dataset& set) {
    return fmt::format("{}x{}x{}", set.channels, set.height, set.width);
  };
  if (size(split.train) != size(split.test))
    throw Error(Fault::data, "{}: expected images of {} in {}, as in {}, found {}", directory.string(),
                size(split.train), find_images(directory, kTest).filename().string(),
                find_images(directory, kTrain).filename().string(), size(split.test));
  return split;
}

}  // namespace lockstep::data
