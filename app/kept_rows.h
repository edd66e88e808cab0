// Taking up a text file of rows again where a checkpoint stands.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>

namespace lockstep::app {

// Leaves the leading rows that `keep` wants; a last line without its end goes, and so does a file
// without any. Throws Error(data) if it cannot be read, Error(ours) if not written; the old one is whole
// until then.
void keep_leading_rows(const std::filesystem::path& file,
                       const std::function<bool(std::string_view row)>& keep);

// The step of the last row of hashes.csv; 0 without any.
std::int64_t last_step_recorded(const std::filesystem::path& hashes);

// Rows of a run's files up to a step or epoch; false also for what cannot be understood.
bool is_result_until(std::string_view csv_row, int last_epoch);
bool is_metric_until(std::string_view json_row, std::int64_t last_step, int last_epoch);
bool is_hash_until(std::string_view csv_row, std::int64_t last_step);

}  // namespace lockstep::app
