// Taking up a text file of rows again where a checkpoint stands.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace lockstep::runs {

struct KeptRows {
  std::string rows;  // with their ends
  bool all = true;   // the file has nothing else
};

// The leading rows of `file` that `keep` wants; none of a file that is not there. A last line without its end
// is no row, nor is one with a zero byte, which some file systems leave after a loss of power, nor one of
// more than 16 MiB. What follows the first row that is not kept is not read, so the memory that this takes is
// the kept rows' and one row's. Throws Error(data) if the file cannot be read.
KeptRows leading_rows(const std::filesystem::path& file,
                      const std::function<bool(std::string_view row)>& keep);

// Makes `kept` and then `added` the content of `file`; without any row the file goes. Throws Error(ours); the
// old file is whole until then.
void replace_rows(const std::filesystem::path& file, const KeptRows& kept, const std::string& added);

// The number before the first comma of a row; 0 for a header.
std::int64_t number_of(std::string_view csv_row);

// Rows of a run's files up to a step or epoch; false also for what cannot be understood.
bool is_result_until(std::string_view csv_row, int last_epoch);
bool is_hash_until(std::string_view csv_row, std::int64_t last_step);

// What a row of metrics.jsonl is about: one of the two is 0. Nothing for what cannot be understood.
struct MetricRow {
  std::int64_t step = 0;
  int epoch = 0;
};
std::optional<MetricRow> metric_of(std::string_view json_row);

}  // namespace lockstep::runs
