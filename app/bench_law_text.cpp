#include "bench_law_text.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "units.h"

namespace lockstep::app {
namespace {

using Json = nlohmann::ordered_json;
using measure::LawFigure, measure::Spread;

Json json_of(const Spread& seconds, std::size_t bytes) {
  return {{"seconds", seconds.median},
          {"quartiles", {seconds.lower_quartile, seconds.upper_quartile}},
          {"bytes", bytes}};
}

}  // namespace

std::string bench_law_table(std::span<const LawFigure> figures) {
  std::string text =
      "LeNet's training step, minibatches of 256, devices of one thread, sharded exchange.\n"
      "by law: subtrees of the pack tree travel and are added in its order.\n"
      "unordered: a device adds its own subtrees first and sends one sum; the bits depend on the "
      "devices.\n\n";
  text += fmt::format("{:<9}{:>12}{:>16}{:>14}{:>18}{:>10}{:>14}\n", "devices", "by law, ms", "unordered, ms",
                      "by law, MB", "unordered, MB", "ratio", "quartiles");
  for (const LawFigure& f : figures) {
    text += fmt::format("{:<9}{:>12.3f}{:>16.3f}{:>14.3f}{:>18.3f}{:>10.4f}{:>14}\n", f.devices,
                        f.by_law.median * kMillis, f.unordered.median * kMillis,
                        static_cast<double>(f.bytes_by_law) / kMega,
                        static_cast<double>(f.bytes_unordered) / kMega, f.ratio.median,
                        fmt::format("{:.3f}-{:.3f}", f.ratio.lower_quartile, f.ratio.upper_quartile));
  }
  return text + "\nms: of a step. MB: copied by all devices in a step. ratio: of times, turn by turn.\n";
}

std::string bench_law_json(std::span<const LawFigure> figures) {
  Json law = Json::array();
  for (const LawFigure& f : figures) {
    law.push_back({{"devices", f.devices},
                   {"by_law", json_of(f.by_law, f.bytes_by_law)},
                   {"unordered", json_of(f.unordered, f.bytes_unordered)},
                   {"ratio", f.ratio.median},
                   {"quartiles", {f.ratio.lower_quartile, f.ratio.upper_quartile}}});
  }
  return Json{{"law", std::move(law)}}.dump() + '\n';
}

}  // namespace lockstep::app
