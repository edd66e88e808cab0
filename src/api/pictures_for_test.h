// Pictures that depend on their index alone.
#pragma once
#include <filesystem>
#include <fstream>
#include <string>

#include <lockstep/dataset.h>

namespace lockstep {
inline namespace api {

inline Pictures some_pictures(std::size_t examples) {
  Pictures pictures;
  pictures.pixels.resize(examples * 28 * 28);
  pictures.labels.resize(examples);
  for (std::size_t i = 0; i < pictures.pixels.size(); ++i)
    pictures.pixels[i] = static_cast<std::uint8_t>(i * 37 % 251);
  for (std::size_t i = 0; i < examples; ++i) pictures.labels[i] = static_cast<std::uint8_t>(i * 7 % 10);
  return pictures;
}

inline Dataset some_data() { return {some_pictures(100), some_pictures(40)}; }

// some_data() as the four IDX files in `folder`.
inline void write_some_data(const std::filesystem::path& folder) {
  const auto write_file = [&](const std::string& name, std::string header, const auto& bytes) {
    std::ofstream(folder / name, std::ios::binary) << header.append(bytes.begin(), bytes.end());
  };
  const auto write_set = [&](const std::string& set, char examples) {
    const Pictures pictures = some_pictures(static_cast<std::size_t>(examples));
    write_file(set + "-images-idx3-ubyte", {0, 0, 8, 3, 0, 0, 0, examples, 0, 0, 0, 28, 0, 0, 0, 28},
               pictures.pixels);
    write_file(set + "-labels-idx1-ubyte", {0, 0, 8, 1, 0, 0, 0, examples}, pictures.labels);
  };
  write_set("train", 100);
  write_set("t10k", 40);
}

}  // namespace api
}  // namespace lockstep
