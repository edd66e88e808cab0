#include "report/device_use.h"

#include <algorithm>

#include <fmt/format.h>

#include "report/figures.h"
#include "report/text_table.h"

namespace lockstep::report {

std::string shares_line(const train::RunStart& start) {
  if (start.packs.empty()) return {};
  std::vector<std::string> parts;
  for (std::size_t d = 0; d < start.packs.size(); ++d) {
    parts.push_back(
        fmt::format("{} {} pack{}", start.devices.at(d), start.packs[d], start.packs[d] == 1 ? "" : "s"));
  }
  return fmt::format("shares: {}{}\n", fmt::join(parts, ", "), start.calibrated ? " (calibrated)" : "");
}

std::string device_use(const train::RunEnd& end) {
  const bool only_cpu =
      std::ranges::all_of(end.devices, [](const std::string& name) { return name.starts_with("cpu:"); });
  if (end.use.size() < 2 || only_cpu) return {};
  std::int64_t all = 0;
  for (const train::DeviceUse& use : end.use) all += use.packs;
  constexpr auto kRight = TextColumn::Align::right;
  const std::vector<TextColumn> columns{
      {"device"},         {"packs", kRight}, {"share", kRight}, {"computing", kRight}, {"exchanging", kRight},
      {"waiting", kRight}};
  std::vector<std::vector<std::string>> rows;
  for (std::size_t d = 0; d < end.use.size(); ++d) {
    const train::DeviceUse& use = end.use[d];
    const double share = all == 0 ? 0 : static_cast<double>(use.packs) / static_cast<double>(all);
    rows.push_back({end.devices.at(d), grouped(use.packs), fmt::format("{:.0f} %", 100 * share),
                    fmt::format("{:.2f} s", use.times.compute), fmt::format("{:.2f} s", use.times.exchange),
                    fmt::format("{:.2f} s", use.times.wait)});
  }
  return text_table(columns, rows);
}

}  // namespace lockstep::report
