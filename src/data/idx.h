// The IDX format of MNIST: a magic number, big-endian sizes, then one byte per value.
// Errors are Error(data): file, what was expected, what was found.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/file_reader.h"

namespace lockstep::data {

// No IDX file, unpacked, may hold more values, so every size fits an int. Fashion-MNIST has 47 MB, EMNIST 640
// MB.
constexpr std::size_t kMaxIdxBytes = std::size_t{1} << 30;

// For read_file(): an IDX file is judged by its header before the rest is read or unpacked.
SizeInHeader idx_images_size();
SizeInHeader idx_labels_size();

struct IdxImages {
  std::uint32_t count = 0;
  int channels = 1, height = 0, width = 0;
  std::vector<std::uint8_t> pixels;  // [image][channel][y][x]
};

// Three sizes (images, height, width) or, in files whose names have idx4, four with the channels behind the
// images. `file` is what errors call it. At least one image, at least one pixel each, and not a byte more or
// less.
IdxImages parse_idx_images(std::span<const std::byte> bytes, std::string_view file);

// Every label is below `classes`.
std::vector<std::uint8_t> parse_idx_labels(std::span<const std::byte> bytes, std::string_view file,
                                           int classes);

}  // namespace lockstep::data
