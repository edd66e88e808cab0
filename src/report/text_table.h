// Aligned columns for a terminal.
#pragma once
#include <span>
#include <string>
#include <vector>

namespace lockstep::report {

struct TextColumn {
  enum class Align { left, right };
  std::string title;
  Align align = Align::left;
};

// A line of titles, then one line a row; two spaces between columns, none at a line's end.
// Requires: every row has a cell for every column, in ASCII.
std::string text_table(std::span<const TextColumn> columns, std::span<const std::vector<std::string>> rows);

}  // namespace lockstep::report
