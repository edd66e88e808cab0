#include "report/text_table.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/error.h"

namespace lockstep::report {
namespace {

using Cells = std::vector<std::string>;

std::string line_of(std::span<const TextColumn> columns, std::span<const std::size_t> widths,
                    const Cells& cells) {
  std::string line;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (i > 0) line += "  ";
    line += columns[i].align == TextColumn::Align::left ? fmt::format("{:<{}}", cells[i], widths[i])
                                                        : fmt::format("{:>{}}", cells[i], widths[i]);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + '\n';
}

}  // namespace

std::string text_table(std::span<const TextColumn> columns, std::span<const Cells> rows) {
  Cells titles;
  std::vector<std::size_t> widths;
  for (const TextColumn& column : columns) {
    titles.push_back(column.title);
    widths.push_back(column.title.size());
  }
  for (const Cells& row : rows) {
    check(row.size() == columns.size(), "a row of {} cells in a table of {} columns", row.size(),
          columns.size());
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text = line_of(columns, widths, titles);
  for (const Cells& row : rows) text += line_of(columns, widths, row);
  return text;
}

}  // namespace lockstep::report
