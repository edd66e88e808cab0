#include "bench_compile_text.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "units.h"

namespace lockstep::app {

std::string bench_compile_table(std::span<const measure::CompileFigure> figures) {
  std::string text =
      "A residual network, minibatches of 256: the lists of all ranks, made and checked, for a step, the\n"
      "smaller step at an epoch's end, an evaluation and an examination of the replicas.\n\n";
  text +=
      fmt::format("{:<9}{:>8}{:>15}{:>10}{:>16}\n", "devices", "layers", "instructions", "ms", "quartiles");
  for (const measure::CompileFigure& f : figures)
    text += fmt::format(
        "{:<9}{:>8}{:>15}{:>10.2f}{:>16}\n", f.devices, f.layers, f.instructions, f.seconds.median * kMillis,
        fmt::format("{:.2f}-{:.2f}", f.seconds.lower_quartile * kMillis, f.seconds.upper_quartile * kMillis));
  return text + "\nlayers: with weights. instructions: of all lists.\n";
}

std::string bench_compile_json(std::span<const measure::CompileFigure> figures) {
  nlohmann::ordered_json compile = nlohmann::ordered_json::array();
  for (const measure::CompileFigure& f : figures)
    compile.push_back({{"devices", f.devices},
                       {"layers", f.layers},
                       {"instructions", f.instructions},
                       {"seconds", f.seconds.median},
                       {"quartiles", {f.seconds.lower_quartile, f.seconds.upper_quartile}}});
  return nlohmann::ordered_json{{"compile", std::move(compile)}}.dump() + '\n';
}

}  // namespace lockstep::app
