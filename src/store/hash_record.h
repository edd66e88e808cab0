// RUN/hashes.csv: the hash of every tensor after every step, by which two runs are compared bit for bit.
//   step,conv1.weight,conv1.bias
//   1,0123456789abcdef0123456789abcdef,fedcba9876543210fedcba9876543210
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"

namespace lockstep::store {

struct HashRecord {
  std::vector<std::string> tensors;
  std::vector<std::int64_t> steps;         // of the rows, rising; some may be missing after a loss of power
  std::vector<std::vector<Hash128>> rows;  // a hash for each tensor
};

// A line with its end. Requires: at least one tensor, no name twice, none empty or with a comma or line end.
std::string hash_record_header(std::span<const std::string> tensors);

// A line with its end.
std::string hash_record_row(std::int64_t step, std::span<const Hash128> hashes);

// A last line without its end, as a killed run leaves it, is dropped. Throws Error(data) with `file`, line,
// what was expected and found: steps that do not rise, missing columns, other than hex digits.
HashRecord parse_hash_record(std::string_view text, std::string_view file);

// The row of a step; null if it was not recorded.
const std::vector<Hash128>* row_of(const HashRecord& record, std::int64_t step);

// The steps that both have, rising.
std::vector<std::int64_t> common_steps(const HashRecord& a, const HashRecord& b);

struct RecordDifference {
  std::int64_t step;
  std::size_t tensor;
};

// The first step, and its first tensor, in which the two differ; steps that only one has are passed over.
// Requires: the same tensors.
std::optional<RecordDifference> first_difference(const HashRecord& a, const HashRecord& b);

}  // namespace lockstep::store
