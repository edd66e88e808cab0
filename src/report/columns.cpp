#include "report/columns.h"

#include "base/error.h"

namespace lockstep::report {
namespace {

// The text up to the next `end`, which is taken away with it; all of it if there is none.
std::string_view take_until(std::string_view& text, char end) {
  const std::size_t at = text.find(end);
  const std::string_view part = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return part;
}

}  // namespace

int columns_of(std::string_view line) {
  int columns = 0;
  bool escape = false;
  for (const char c : line) {
    if (c == '\x1b') escape = true;
    const bool continues = (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;  // of a character in UTF-8
    if (!escape && !continues) ++columns;
    if (c == 'm') escape = false;
  }
  return columns;
}

std::string wrapped(std::string_view text, int width) {
  std::string result;
  int column = 0;
  while (!text.empty()) {
    const std::string_view word = take_until(text, ' ');
    const int columns = columns_of(word);
    if (column > 0 && column + 1 + columns > width) {
      result += '\n';
      column = 0;
    }
    if (column > 0) {
      result += ' ';
      ++column;
    }
    result += word;
    column += columns;
  }
  return result;
}

std::string side_by_side(std::string_view left, int at, std::string_view right) {
  std::string result;
  while (!left.empty()) {
    const std::string_view line = take_until(left, '\n'), beside = take_until(right, '\n');
    const int columns = columns_of(line);
    check(columns <= at, "a line of {} columns in a picture of {}", columns, at);
    result += line;
    if (!beside.empty()) result += std::string(static_cast<std::size_t>(at - columns), ' ');
    result += beside;
    result += '\n';
  }
  check(right.empty(), "more lines beside a picture than it has");
  return result;
}

}  // namespace lockstep::report
