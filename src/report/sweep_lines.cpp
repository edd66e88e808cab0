#include "report/sweep_lines.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace lockstep::report {
namespace {

constexpr std::size_t kMostListed = 6;  // numbers of devices that a label spells out

using Rows = std::vector<SweepRow>;

template <class Key>
auto grouped_by(std::span<const SweepRow> rows, Key key_of) {
  std::map<decltype(key_of(rows.front())), Rows> groups;
  for (const SweepRow& row : rows) groups[key_of(row)].push_back(row);
  return groups;
}

std::set<int> device_counts(std::span<const SweepRow> rows) {
  std::set<int> counts;
  for (const SweepRow& row : rows) counts.insert(row.devices);
  return counts;
}

bool same_outcome(const SweepRow& a, const SweepRow& b) {
  return a.weights == b.weights && a.diverged == b.diverged;
}

// Of one batch size. No learning rate may contradict, and every number of devices must have been compared
// with the smallest one somewhere: what never ran side by side is not called equal.
bool same_bits(std::span<const SweepRow> rows) {
  const std::set<int> counts = device_counts(rows);
  std::set<int> compared{*counts.begin()};
  for (const auto& [lr, runs] : grouped_by(rows, [](const SweepRow& row) { return row.lr; })) {
    const SweepRow& first = runs.front();
    for (const SweepRow& run : runs) {
      if (!same_outcome(run, first)) return false;
    }
    const std::set<int> here = device_counts(runs);
    if (!first.weights.empty() && here.contains(*counts.begin())) compared.insert(here.begin(), here.end());
  }
  return counts.size() > 1 && compared == counts;
}

std::string listed(const std::set<int>& counts) {
  if (counts.size() <= kMostListed) return fmt::format("{}", fmt::join(counts, ", "));
  return fmt::format("{}, {}, ... {}", *counts.begin(), *std::next(counts.begin()), *counts.rbegin());
}

SweepLine accuracy_line(std::string label, std::span<const SweepRow> rows) {
  SweepLine line{.label = std::move(label), .points = {}};
  for (const auto& [lr, runs] : grouped_by(rows, [](const SweepRow& row) { return row.lr; })) {
    const SweepRow& run = runs.front();
    if (!run.diverged && !std::isfinite(run.accuracy)) continue;
    line.points.push_back(
        {.x = lr, .y = run.diverged ? std::numeric_limits<double>::quiet_NaN() : run.accuracy});
  }
  return line;
}

}  // namespace

std::vector<SweepLine> accuracy_lines(std::span<const SweepRow> rows) {
  std::vector<SweepLine> lines;
  for (const auto& [batch, runs] : grouped_by(rows, [](const SweepRow& row) { return row.batch; })) {
    if (same_bits(runs)) {
      lines.push_back(accuracy_line(
          fmt::format("batch {}; {} devices: same bits", batch, listed(device_counts(runs))), runs));
      continue;
    }
    for (const auto& [devices, of_devices] :
         grouped_by(runs, [](const SweepRow& row) { return row.devices; })) {
      lines.push_back(accuracy_line(
          fmt::format("batch {}, {} {}", batch, devices, devices == 1 ? "device" : "devices"), of_devices));
    }
  }
  return lines;
}

std::vector<SweepLine> time_lines(std::span<const SweepRow> rows) {
  Rows finished;
  std::set<int> batches;
  for (const SweepRow& row : rows) {
    if (row.diverged || !std::isfinite(row.seconds_per_epoch)) continue;
    finished.push_back(row);
    batches.insert(row.batch);
  }
  std::vector<SweepLine> lines;
  for (const auto& [setting, runs] :
       grouped_by(finished, [](const SweepRow& row) { return std::pair(row.batch, row.lr); })) {
    const auto [batch, lr] = setting;
    SweepLine line{.label = batches.size() > 1 ? fmt::format("batch {}, lr {:g}", batch, lr)
                                               : fmt::format("lr {:g}", lr),
                   .points = {}};
    for (const SweepRow& run : runs) {
      line.points.push_back({.x = static_cast<double>(run.devices), .y = run.seconds_per_epoch});
    }
    std::ranges::stable_sort(line.points, {}, &SweepPoint::x);
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace lockstep::report
