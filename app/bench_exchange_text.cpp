#include "bench_exchange_text.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "units.h"

namespace lockstep::app {
namespace {

using Json = nlohmann::ordered_json;
using measure::DeviceWork, measure::ExchangeFigure, measure::ExchangeFigures, measure::Spread;

std::string megabytes(std::size_t bytes) { return fmt::format("{:.2f}", static_cast<double>(bytes) / kMega); }

// What is written of one thing that was timed. A copy sends and receives nothing.
struct Row {
  std::string name;
  const Spread& seconds;
  double bytes_per_second;
  std::string sent = {}, received = {}, all;
};

std::string line(const Row& row, double copy_bytes_per_second) {
  const std::string quartiles = fmt::format("{:.3f}-{:.3f}", row.seconds.lower_quartile * kMillis,
                                            row.seconds.upper_quartile * kMillis);
  return fmt::format("{:<19}{:>10.3f}{:>20}{:>11}{:>11}{:>11}{:>9.2f}{:>10.2f}\n", row.name,
                     row.seconds.median * kMillis, quartiles, row.sent, row.received, row.all,
                     row.bytes_per_second / kGiga, row.bytes_per_second / copy_bytes_per_second);
}

std::string most(const std::vector<DeviceWork>& work, std::size_t (*bytes)(const DeviceWork&)) {
  std::size_t largest = 0;
  for (const DeviceWork& device : work) largest = std::max(largest, bytes(device));
  return megabytes(largest);
}

std::string table(const ExchangeFigures& figures) {
  std::string text = fmt::format(
      "\n{:<19}{:>10}{:>20}{:>11}{:>11}{:>11}{:>9}{:>10}\n",
      fmt::format("{:.4g} MB, {} devices", static_cast<double>(figures.bytes) / kMega, figures.devices), "ms",
      "quartiles", "sent, MB", "received", "in all", "GB/s", "of memcpy");
  const double copy = figures.copy_all_bytes_per_second();
  for (const ExchangeFigure& kind : figures.kinds) {
    text += line({kind.kind, kind.seconds, kind.bytes_per_second(),
                  most(kind.work, [](const DeviceWork& d) { return d.sent; }),
                  most(kind.work, [](const DeviceWork& d) { return d.received(); }),
                  megabytes(measure::bytes_in_all(kind.work))},
                 copy);
  }
  text += line({.name = "memcpy, 1 thread",
                .seconds = figures.copy_one,
                .bytes_per_second = figures.copy_one_bytes_per_second(),
                .all = megabytes(figures.bytes)},
               copy);
  text += line({.name = fmt::format("memcpy, {} threads", figures.devices),
                .seconds = figures.copy_all,
                .bytes_per_second = copy,
                .all = megabytes(figures.bytes * static_cast<std::size_t>(figures.devices))},
               copy);
  for (std::size_t i = 1; i < figures.kinds.size(); ++i) {
    const ExchangeFigure& kind = figures.kinds[i];
    text += fmt::format(
        "{} / {}: {:.2f} (quartiles {:.2f}-{:.2f}); by formula {:.2f} with a core a device, {:.2f} with {}\n",
        kind.kind, figures.kinds[0].kind, kind.against_best.median, kind.against_best.lower_quartile,
        kind.against_best.upper_quartile, kind.formula, kind.formula_here, figures.cores);
  }
  return text;
}

Json json_of(const ExchangeFigure& kind) {
  Json sent = Json::array(), received = Json::array();
  for (const DeviceWork& device : kind.work) {
    sent.push_back(device.sent);
    received.push_back(device.received());
  }
  return {{"name", kind.kind},
          {"seconds", kind.seconds.median},
          {"quartiles", {kind.seconds.lower_quartile, kind.seconds.upper_quartile}},
          {"gigabytes_per_second", kind.bytes_per_second() / kGiga},
          {"bytes", measure::bytes_in_all(kind.work)},
          {"sent", std::move(sent)},
          {"received", std::move(received)},
          {"ratio", kind.against_best.median},
          {"ratio_quartiles", {kind.against_best.lower_quartile, kind.against_best.upper_quartile}},
          {"formula", kind.formula},
          {"formula_here", kind.formula_here}};
}

Json json_of(const Spread& seconds, double bytes_per_second) {
  return {{"seconds", seconds.median},
          {"quartiles", {seconds.lower_quartile, seconds.upper_quartile}},
          {"gigabytes_per_second", bytes_per_second / kGiga}};
}

}  // namespace

std::string bench_exchange_table(std::span<const ExchangeFigures> figures) {
  std::string text =
      "One exchange alone, devices of one thread, in turns with copying.\n"
      "sent, received: by the device with the most. in all: copied, counted from the lists.\n"
      "GB/s: copied in all by the time of everything, joins too. of memcpy: of all threads copying at once.\n"
      "by formula: bytes copied and joined on the longest path.\n";
  for (const ExchangeFigures& f : figures) text += table(f);
  return text;
}

std::string bench_exchange_json(std::span<const ExchangeFigures> figures) {
  Json exchanges = Json::array();
  for (const ExchangeFigures& f : figures) {
    Json kinds = Json::array();
    for (const ExchangeFigure& kind : f.kinds) kinds.push_back(json_of(kind));
    exchanges.push_back({{"bytes", f.bytes},
                         {"devices", f.devices},
                         {"cores", f.cores},
                         {"kinds", std::move(kinds)},
                         {"memcpy_one", json_of(f.copy_one, f.copy_one_bytes_per_second())},
                         {"memcpy_all", json_of(f.copy_all, f.copy_all_bytes_per_second())}});
  }
  return Json{{"exchanges", std::move(exchanges)}}.dump() + '\n';
}

}  // namespace lockstep::app
