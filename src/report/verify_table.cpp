#include "report/verify_table.h"

#include <algorithm>
#include <vector>

#include <fmt/core.h>

#include "report/text_table.h"

namespace lockstep::report {
namespace {

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

std::string verdict(std::span<const VerifyRow> rows) {
  const auto differing = std::ranges::count(rows, false, &VerifyRow::equal);
  if (rows.empty()) return "no run to compare\n";
  if (differing > 0) {
    return fmt::format("{} of {} runs {}: at least one bit of {} weights is not as expected\n", differing,
                       rows.size(), differing == 1 ? "DIFFERS" : "DIFFER", differing == 1 ? "its" : "their");
  }
  return rows.size() == 1 ? "the run has the expected weights, bit for bit\n"
                          : fmt::format("all {} runs have equal weights, bit for bit\n", rows.size());
}

}  // namespace

std::string verify_table(std::span<const VerifyRow> rows) {
  constexpr auto kRight = TextColumn::Align::right;
  const std::vector<TextColumn> columns{{"devices"}, {"threads", kRight}, {"exchange"},
                                        {"order"},   {"steps", kRight},   {"weights"},
                                        {"result"},  {"seconds", kRight}};
  std::vector<std::vector<std::string>> cells;
  for (const VerifyRow& row : rows) {
    cells.push_back({row.devices, row.threads > 0 ? fmt::format("{}", row.threads) : "-",
                     or_dash(row.exchange), or_dash(row.order), fmt::format("{}", row.steps),
                     or_dash(row.hash), row.equal ? "equal" : "DIFFERS", fmt::format("{:.2f}", row.seconds)});
  }
  return "Each line is the same training, run in another way. Under \"weights\" is the hash of all weights\n"
         "after the last step: if one bit of one weight changes, it changes.\n\n" +
         text_table(columns, cells) + "\n" + verdict(rows);
}

}  // namespace lockstep::report
