#include "kept_rows.h"

#include <charconv>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/error.h"

namespace lockstep::app {
namespace {

// The number before the first comma; nothing for a header.
std::optional<std::int64_t> first_number(std::string_view row) {
  const std::string_view text = row.substr(0, row.find(','));
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool is_header_or_until(std::string_view row, std::string_view first_column, std::int64_t last) {
  const std::optional<std::int64_t> number = first_number(row);
  return number ? *number <= last : row.starts_with(first_column);
}

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream all;
  all << in.rdbuf();
  if (!in) throw Error(Fault::data, "{}: cannot be read", file.string());
  return std::move(all).str();
}

}  // namespace

std::int64_t last_step_recorded(const std::filesystem::path& hashes) {
  if (!std::filesystem::exists(hashes)) return 0;
  const std::string text = text_of(hashes);
  const std::size_t end = text.find_last_of('\n');
  if (end == std::string::npos || end == 0) return 0;
  const std::size_t start = text.find_last_of('\n', end - 1) + 1;
  return first_number(std::string_view(text).substr(start, end - start)).value_or(0);
}

void keep_leading_rows(const std::filesystem::path& file, const std::function<bool(std::string_view)>& keep) {
  if (!std::filesystem::exists(file)) return;
  const std::string text = text_of(file);
  std::size_t kept = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', kept)) {
    if (!keep(std::string_view(text).substr(kept, end - kept))) break;
    kept = end + 1;
  }
  if (kept == 0) {
    std::filesystem::remove(file);
  } else if (kept < text.size()) {
    write_file_atomically(file, text.substr(0, kept));
  }
}

bool is_result_until(std::string_view csv_row, int last_epoch) {
  return is_header_or_until(csv_row, "epoch", last_epoch);
}

bool is_metric_until(std::string_view json_row, std::int64_t last_step, int last_epoch) {
  const nlohmann::json row = nlohmann::json::parse(json_row, nullptr, false);
  if (!row.is_object()) return false;
  const auto whole = [&](const char* key) { return row.contains(key) && row[key].is_number_integer(); };
  if (whole("global_step")) return row["global_step"].get<std::int64_t>() <= last_step;
  return whole("epoch") && row["epoch"].get<int>() <= last_epoch;
}

bool is_hash_until(std::string_view csv_row, std::int64_t last_step) {
  return is_header_or_until(csv_row, "step", last_step);
}

}  // namespace lockstep::app
