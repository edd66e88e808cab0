#include "store/data_sizes.h"

#include <charconv>

#include <fmt/format.h>

namespace lockstep::store {
namespace {

// Takes what to_text() writes off the front of a text, piece by piece.
struct Pieces {
  std::string_view rest;
  bool right = true;

  template <class Number>
  void take(Number& into, std::string_view words) {
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), into);
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    right = right && error == std::errc{} && into > 0 && rest.starts_with(words);
    if (right) rest.remove_prefix(words.size());
  }
};

}  // namespace

std::string to_text(const DataSizes& sizes) {
  if (!sizes.known()) return "";
  return fmt::format("{} + {} pictures of {}x{}x{}, {} classes", sizes.train, sizes.test, sizes.channels,
                     sizes.height, sizes.width, sizes.classes);
}

std::optional<DataSizes> data_sizes_in(std::string_view text) {
  DataSizes sizes;
  if (text.empty()) return sizes;
  Pieces pieces{text};
  pieces.take(sizes.train, " + ");
  pieces.take(sizes.test, " pictures of ");
  pieces.take(sizes.channels, "x");
  pieces.take(sizes.height, "x");
  pieces.take(sizes.width, ", ");
  pieces.take(sizes.classes, " classes");
  if (!pieces.right || to_text(sizes) != text) return std::nullopt;  // 010 reads as 10
  return sizes;
}

}  // namespace lockstep::store
