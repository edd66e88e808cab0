// Pictures that depend on their index alone.
#pragma once
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

}  // namespace api
}  // namespace lockstep
