#include "runs/kept_rows.h"

#include <charconv>
#include <optional>
#include <span>

#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/input_file.h"

namespace lockstep::runs {
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

bool is_there(const std::filesystem::path& file) {
  std::error_code ignored;  // what cannot be looked at is refused when it is read or written
  return std::filesystem::exists(std::filesystem::symlink_status(file, ignored));
}

constexpr std::size_t kMostRowBytes = 16 << 20;  // the hashes of half a million tensors
constexpr std::size_t kBlockBytes = 1 << 20;     // that are read at once

// Appends the next bytes of the file; fewer than a block at its end.
std::size_t append_block(std::string& text, InputFile& file) {
  const std::size_t before = text.size();
  text.resize(before + kBlockBytes);
  const std::size_t read = file.read(std::as_writable_bytes(std::span(text).subspan(before)));
  text.resize(before + read);
  return read;
}

}  // namespace

KeptRows leading_rows(const std::filesystem::path& file, const std::function<bool(std::string_view)>& keep) {
  if (!is_there(file)) return {};
  InputFile input(file);
  std::string text;
  std::size_t kept = 0;
  const auto keep_rows = [&] {
    for (std::size_t end = text.find('\n', kept); end != std::string::npos; end = text.find('\n', kept)) {
      const std::string_view row = std::string_view(text).substr(kept, end - kept);
      if (row.find('\0') != std::string_view::npos || !keep(row)) return false;
      kept = end + 1;
    }
    return text.size() - kept <= kMostRowBytes;
  };
  bool at_end = false, all_kept = true;
  while (!at_end && all_kept) {
    at_end = append_block(text, input) < kBlockBytes;
    all_kept = keep_rows();
  }
  const bool all = at_end && kept > 0 && kept == text.size();
  text.resize(kept);
  return {std::move(text), all};
}

void replace_rows(const std::filesystem::path& file, const KeptRows& kept, const std::string& added) {
  if (kept.all && added.empty()) return;
  if (const std::string rows = kept.rows + added; !rows.empty()) return write_file_atomically(file, rows);
  std::error_code error;
  std::filesystem::remove(file, error);
  if (error) throw Error(Fault::ours, "{}: cannot remove the file: {}", file.string(), error.message());
}

std::int64_t number_of(std::string_view csv_row) { return first_number(csv_row).value_or(0); }

bool is_result_until(std::string_view csv_row, int last_epoch) {
  return is_header_or_until(csv_row, "epoch", last_epoch);
}

std::optional<MetricRow> metric_of(std::string_view json_row) {
  const nlohmann::json row = nlohmann::json::parse(json_row, nullptr, false);
  if (!row.is_object()) return std::nullopt;
  const auto whole = [&](const char* key) { return row.contains(key) && row[key].is_number_integer(); };
  if (whole("global_step")) return MetricRow{.step = row["global_step"].get<std::int64_t>()};
  if (whole("epoch")) return MetricRow{.epoch = row["epoch"].get<int>()};
  return std::nullopt;
}

bool is_hash_until(std::string_view csv_row, std::int64_t last_step) {
  return is_header_or_until(csv_row, "step", last_step);
}

}  // namespace lockstep::runs
