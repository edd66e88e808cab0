#include "report/sweep_row.h"

#include <algorithm>
#include <cmath>

namespace lockstep::report {
namespace {

bool has_accuracy(const SweepRow& row) { return !row.diverged && std::isfinite(row.accuracy); }

}  // namespace

bool is_best(const SweepRow& row, std::span<const SweepRow> rows) {
  return has_accuracy(row) && std::ranges::none_of(rows, [&](const SweepRow& other) {
           return has_accuracy(other) && other.accuracy > row.accuracy;
         });
}

}  // namespace lockstep::report
