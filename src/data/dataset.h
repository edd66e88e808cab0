// A labelled set of images, as bytes, all in memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/hash.h"

namespace lockstep::data {

struct Dataset {
  int channels = 0, height = 0, width = 0;
  int classes = 0;
  std::vector<std::uint8_t> pixels;  // [example][channel][y][x]
  std::vector<std::uint8_t> labels;  // [example], below classes

  std::size_t size() const { return labels.size(); }
  std::size_t example_bytes() const {
    return static_cast<std::size_t>(channels) * static_cast<std::size_t>(height) *
           static_cast<std::size_t>(width);
  }
  std::span<const std::uint8_t> example(std::size_t i) const {
    return {pixels.data() + i * example_bytes(), example_bytes()};
  }
};

struct Split {
  Dataset train, test;
};

// XXH3-128 over pixels, then labels of train, then of test: what a run's bits depend on.
Hash128 hash_of(const Split& split);

// Where Debian's dataset-fashion-mnist puts its files.
std::filesystem::path default_fashion_mnist_directory();

// Reads the four IDX files (plain or .gz) of an MNIST-like set; 10 classes.
// Throws Error(data) naming file, what was expected and what was found.
Split load_mnist_like(const std::filesystem::path& directory);

}  // namespace lockstep::data
