#include "store/hash_record.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <set>

#include <fmt/format.h>

#include "base/error.h"

namespace lockstep::store {
namespace {

constexpr std::string_view kFirstColumn = "step";
constexpr std::string_view kHeader = "a header of \"step\" and the names of tensors";

struct Line {
  std::string_view text;  // without its end
  std::string_view file;
  std::int64_t number;

  [[noreturn]] void refuse(std::string_view expected, std::string_view found) const {
    throw Error(Fault::data, "{}:{}: expected {}, found {}", file, number, expected, found);
  }
};

// Takes the line off the front of `text`; nothing if there is no whole one.
std::optional<std::string_view> take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return {};
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return line;
}

std::vector<std::string_view> columns_of(std::string_view line) {
  std::vector<std::string_view> columns;
  for (std::size_t comma = 0; (comma = line.find(',')) != std::string_view::npos;) {
    columns.push_back(line.substr(0, comma));
    line.remove_prefix(comma + 1);
  }
  columns.push_back(line);
  return columns;
}

std::vector<std::string> parse_header(const Line& line) {
  const std::vector<std::string_view> columns = columns_of(line.text);
  if (columns[0] != kFirstColumn || columns.size() < 2) line.refuse(kHeader, fmt::format("{:?}", line.text));
  std::vector<std::string> tensors(columns.begin() + 1, columns.end());
  std::set<std::string_view> names;
  for (const std::string& tensor : tensors)
    if (tensor.empty() || !names.insert(tensor).second)
      line.refuse("names of tensors, each once", fmt::format("{:?}", tensor));
  return tensors;
}

std::int64_t parse_step(const Line& line, std::string_view text) {
  std::int64_t step = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), step);
  if (error != std::errc{} || end != text.data() + text.size() || step < 1)
    line.refuse("a step, a whole number from 1", fmt::format("{:?}", text));
  return step;
}

void add_row(HashRecord& record, const Line& line) {
  const std::vector<std::string_view> columns = columns_of(line.text);
  if (columns.size() != record.tensors.size() + 1)
    line.refuse(fmt::format("a step and {} hashes", record.tensors.size()),
                fmt::format("{} columns", columns.size()));
  const std::int64_t step = parse_step(line, columns[0]);
  if (!record.steps.empty() && step <= record.steps.back())
    line.refuse(fmt::format("a step after {}", record.steps.back()), fmt::format("{}", step));
  record.steps.push_back(step);
  std::vector<Hash128>& row = record.rows.emplace_back();
  row.reserve(record.tensors.size());
  for (std::size_t i = 0; i < record.tensors.size(); ++i) {
    const std::optional<Hash128> hash = from_hex(columns[i + 1]);
    if (!hash)
      line.refuse(fmt::format("32 hex digits for tensor {:?}", record.tensors[i]),
                  fmt::format("{:?}", columns[i + 1]));
    row.push_back(*hash);
  }
}

}  // namespace

std::string hash_record_header(std::span<const std::string> tensors) {
  for (const std::string& tensor : tensors)
    check(!tensor.empty() && tensor.find_first_of(",\n") == std::string::npos,
          "tensor name {:?} does not fit a column", tensor);
  return fmt::format("{},{}\n", kFirstColumn, fmt::join(tensors, ","));
}

std::string hash_record_row(std::int64_t step, std::span<const Hash128> hashes) {
  constexpr std::size_t kStepDigits = 20, kColumn = 33;
  std::string row;
  row.reserve(kStepDigits + hashes.size() * kColumn);
  fmt::format_to(std::back_inserter(row), "{}", step);
  for (const Hash128& hash : hashes)
    fmt::format_to(std::back_inserter(row), ",{:016x}{:016x}", hash.high, hash.low);
  row += '\n';
  return row;
}

HashRecord parse_hash_record(std::string_view text, std::string_view file) {
  HashRecord record;
  Line line{.text = {}, .file = file, .number = 1};
  for (; const std::optional<std::string_view> taken = take_line(text); ++line.number) {
    line.text = *taken;
    if (line.number == 1)
      record.tensors = parse_header(line);
    else
      add_row(record, line);
  }
  if (line.number == 1) line.refuse(kHeader, "no whole line");
  return record;
}

const std::vector<Hash128>* row_of(const HashRecord& record, std::int64_t step) {
  const auto found = std::ranges::lower_bound(record.steps, step);
  if (found == record.steps.end() || *found != step) return nullptr;
  return &record.rows[static_cast<std::size_t>(found - record.steps.begin())];
}

std::vector<std::int64_t> common_steps(const HashRecord& a, const HashRecord& b) {
  std::vector<std::int64_t> steps;
  std::ranges::set_intersection(a.steps, b.steps, std::back_inserter(steps));
  return steps;
}

std::optional<RecordDifference> first_difference(const HashRecord& a, const HashRecord& b) {
  check(a.tensors == b.tensors, "records of different tensors are compared");
  for (const std::int64_t step : common_steps(a, b)) {
    const std::vector<Hash128>&in_a = *row_of(a, step), &in_b = *row_of(b, step);
    const auto [differs, other] = std::ranges::mismatch(in_a, in_b);
    if (differs != in_a.end())
      return RecordDifference{.step = step, .tensor = static_cast<std::size_t>(differs - in_a.begin())};
  }
  return {};
}

}  // namespace lockstep::store
