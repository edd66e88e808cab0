#include "runs/rows_at_checkpoint.h"

#include <algorithm>
#include <optional>
#include <span>
#include <sstream>

#include <fmt/format.h>

#include "base/error.h"
#include "base/hash.h"
#include "report/metrics_jsonl.h"
#include "report/results_csv.h"
#include "runs/kept_rows.h"
#include "runs/weights_file.h"
#include "store/hash_record.h"

namespace lockstep::runs {
namespace {

namespace fs = std::filesystem;

// "step 8" or "steps 5 to 8".
std::string range_text(std::string_view what, std::int64_t first, std::int64_t last) {
  return first == last ? fmt::format("{} {}", what, last) : fmt::format("{}s {} to {}", what, first, last);
}

// Each brings one file and says what was missing in it; empty for a file that lacked nothing.

std::string bring_results(const train::TrainState& state, const fs::path& file) {
  const auto epochs = static_cast<std::int64_t>(state.epochs.size());
  std::int64_t last = -1;  // before the header, whose number is 0
  const KeptRows kept = leading_rows(file, [&](std::string_view row) {
    const bool follows = is_result_until(row, static_cast<int>(epochs)) && number_of(row) == last + 1;
    if (follows) ++last;
    return follows;
  });
  std::ostringstream text;
  report::ResultsCsv csv(text, file.string());
  if (last < 0) csv.on_start({});
  last = std::max<std::int64_t>(last, 0);
  for (auto e = static_cast<std::size_t>(last); e < state.epochs.size(); ++e) csv.on_epoch(state.epochs[e]);
  replace_rows(file, kept, text.str());
  if (last == epochs) return {};
  return fmt::format("{} {}, written again", kResultsFile, range_text("epoch", last + 1, epochs));
}

std::string bring_metrics(const train::TrainState& state, const fs::path& file) {
  const auto epochs = static_cast<int>(state.epochs.size());
  MetricRow last;
  const KeptRows kept = leading_rows(file, [&](std::string_view row) {
    const std::optional<MetricRow> found = metric_of(row);
    if (!found || found->step > state.step || found->epoch > epochs) return false;
    const bool follows = found->step > last.step || found->epoch > last.epoch;
    if (!follows) return false;
    last = {std::max(last.step, found->step), std::max(last.epoch, found->epoch)};
    return true;
  });
  std::ostringstream text;
  report::MetricsJsonl jsonl(text, file.string());
  for (auto e = static_cast<std::size_t>(last.epoch); e < state.epochs.size(); ++e)
    jsonl.on_epoch(state.epochs[e]);
  replace_rows(file, kept, text.str());

  std::vector<std::string> missing;
  if (last.step < state.step) missing.push_back(range_text("step", last.step + 1, state.step));
  if (last.epoch < epochs) missing.push_back(range_text("epoch", last.epoch + 1, epochs) + ", written again");
  return missing.empty() ? "" : fmt::format("{} {}", kMetricsFile, fmt::join(missing, " and "));
}

std::string bring_hashes(const train::TrainState& state, const fs::path& file, const RowsAtCheckpoint& run) {
  constexpr std::size_t kColumn = 33;  // a comma and 32 digits
  std::int64_t last = -1;              // before the header, whose number is 0
  const KeptRows kept = leading_rows(file, [&](std::string_view row) {
    const std::int64_t step = number_of(row);
    const bool whole = step == 0 || row.size() == row.find(',') + run.tensors.size() * kColumn;
    if (!is_hash_until(row, state.step) || step <= last || !whole) return false;
    last = step;
    return true;
  });
  if (!run.record) {
    replace_rows(file, kept, "");
    return {};
  }
  std::string added = last < 0 ? store::hash_record_header(run.tensors) : "";
  last = std::max<std::int64_t>(last, 0);
  const bool missing = last < state.step;
  if (missing) {
    std::vector<Hash128> hashes;
    for (const std::string& name : run.tensors) {
      const auto tensor = std::ranges::find(state.tensors, name, &run::NamedTensor::name);
      check(tensor != state.tensors.end(), "a state without tensor {}", name);
      hashes.push_back(hash128(std::as_bytes(std::span(tensor->numbers))));
    }
    added += store::hash_record_row(state.step, hashes);
  }
  replace_rows(file, kept, added);
  if (!missing) return {};
  if (last + 1 == state.step) return fmt::format("{} step {}, written again", kHashesFile, state.step);
  return fmt::format("{} {}", kHashesFile, range_text("step", last + 1, state.step - 1));
}

}  // namespace

std::string bring_rows_to(const train::TrainState& state, const fs::path& run, const RowsAtCheckpoint& rows) {
  std::vector<std::string> missing{bring_results(state, run / kResultsFile),
                                   bring_metrics(state, run / kMetricsFile),
                                   bring_hashes(state, run / kHashesFile, rows)};
  std::erase(missing, "");
  if (missing.empty()) return {};
  return fmt::format("{}: rows were missing, after a loss of power or a part without a record: {}\n",
                     run.string(), fmt::join(missing, "; "));
}

}  // namespace lockstep::runs
