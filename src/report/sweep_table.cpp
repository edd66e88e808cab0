#include "report/sweep_table.h"

#include <cmath>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "report/figures.h"
#include "report/json_string.h"
#include "report/text_table.h"

namespace lockstep::report {
namespace {

// The shortest decimal that reads back to the same bits; empty without a value.
std::string csv_number(const SweepRow& row, double value) {
  return row.diverged || !std::isfinite(value) ? "" : fmt::format("{}", value);
}

std::string json_value(const SweepRow& row, double value) {
  return row.diverged ? "null" : json_number(value);
}

}  // namespace

std::string sweep_table(std::span<const SweepRow> rows) {
  constexpr auto kRight = TextColumn::Align::right;
  const std::vector<TextColumn> columns{
      {"lr", kRight}, {"batch", kRight},     {"devices", kRight}, {"test acc", kRight},
      {""},           {"sec/epoch", kRight}, {"weights"}};
  std::vector<std::vector<std::string>> cells;
  for (const SweepRow& row : rows) {
    cells.push_back(
        {fmt::format("{:g}", row.lr), fmt::format("{}", row.batch), fmt::format("{}", row.devices),
         row.diverged ? "diverged" : fmt::format("{:.4f}", row.accuracy), is_best(row, rows) ? "best" : "",
         row.diverged ? "-" : fmt::format("{:.2f}", row.seconds_per_epoch),
         row.weights.empty() ? "-" : row.weights});
  }
  return text_table(columns, cells);
}

std::string sweep_csv(std::span<const SweepRow> rows) {
  std::string text = "lr,batch,devices,test_accuracy,seconds_per_epoch,weights,diverged,run,best\n";
  for (const SweepRow& row : rows) {
    text += fmt::format("{},{},{},{},{},{},{},{},{}\n", row.lr, row.batch, row.devices,
                        csv_number(row, row.accuracy), csv_number(row, row.seconds_per_epoch), row.weights,
                        row.diverged, row.run, is_best(row, rows));
  }
  return text;
}

std::string sweep_json(std::span<const SweepRow> rows) {
  std::string text = "[";
  std::string_view before = "\n";
  for (const SweepRow& row : rows) {
    text += before;
    text += fmt::format(R"({{"lr":{},"batch":{},"devices":{},"test_accuracy":{},"seconds_per_epoch":{},)"
                        R"("weights":{},"diverged":{},"run":{},"best":{}}})",
                        json_number(row.lr), row.batch, row.devices, json_value(row, row.accuracy),
                        json_value(row, row.seconds_per_epoch), json_string(row.weights), row.diverged,
                        json_string(row.run), is_best(row, rows));
    before = ",\n";
  }
  return text + "\n]\n";
}

}  // namespace lockstep::report
