#include "bench_layers_text.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "bench_peak_text.h"
#include "units.h"

namespace lockstep::app {
namespace {

using Json = nlohmann::ordered_json;
using measure::LayerFigure;

// "12.5 (10 %)"; nothing for a phase that the algorithm does not have.
std::string phase(double seconds, double fraction) {
  if (fraction == 0) return {};
  return fmt::format("{:.1f} ({:.0f} %)", seconds * fraction * kMicros, 100 * fraction);
}

std::string quartiles(const LayerFigure& f) {
  return fmt::format("{:.0f}-{:.0f}", f.time.seconds.lower_quartile / f.packs * kMicros,
                     f.time.seconds.upper_quartile / f.packs * kMicros);
}

std::string heading(std::string_view layer) {
  return fmt::format("\n{}\n{:<17}{:<11}{:>9}{:>11}{:>13}{:>17}{:>17}{:>17}{:>9}  {}\n", layer, "pass",
                     "algorithm", "share", "us a pack", "quartiles", "transform in", "products",
                     "transform back", "of peak", "bound by");
}

std::string row(const LayerFigure& f, bool busy) {
  const double seconds = f.seconds_a_pack();
  const auto percent = [busy](double share) { return busy ? "-" : fmt::format("{:.1f} %", 100 * share); };
  return fmt::format("{:<17}{:<11}{:>9}{:>11.1f}{:>13}{:>17}{:>17}{:>17}{:>9}  {}\n", f.pass, f.algorithm,
                     percent(f.share()), seconds * kMicros, quartiles(f), phase(seconds, f.phases.into),
                     phase(seconds, f.phases.products), phase(seconds, f.phases.back),
                     percent(f.product_share()), busy ? "-" : f.limit());
}

Json json_of(const LayerFigure& f, bool busy) {
  return {{"layer", f.layer},
          {"pass", f.pass},
          {"algorithm", f.algorithm},
          {"packs", f.packs},
          {"share", busy ? Json() : Json(f.share())},
          {"seconds", f.seconds_a_pack()},
          {"quartiles", {f.time.seconds.lower_quartile / f.packs, f.time.seconds.upper_quartile / f.packs}},
          {"transform_in", f.phases.into},
          {"products", f.phases.products},
          {"transform_back", f.phases.back},
          {"product_share", busy ? Json() : Json(f.product_share())},
          {"bound_by", busy ? Json() : Json(f.limit())}};
}

}  // namespace

std::string bench_layers_table(const BenchLayersFigures& figures) {
  std::string text = fmt::format(
      "Convolution layers by themselves, one core, packs of 16 examples, {} kernels; fast and direct in "
      "turns\n"
      "{}"
      "share: operations of the direct algorithm, padding left out, of the FMA peak just before and after;\n"
      "  fast needs fewer and can be above 100 %. of peak: the products' own operations in their own time.\n"
      "Once a step weights are transformed, too: not counted here.\n"
      "bound by multiply-adds: at FMA peak the products alone take more than 3/4 of the time;\n"
      "  by cache: less, because transforms and products wait for L2 and L3.\n",
      figures.target, peak_lines(figures.core_peak));
  std::string_view layer;
  for (const LayerFigure& f : figures.layers) {
    if (f.layer != layer) text += heading(f.layer);
    layer = f.layer;
    text += row(f, figures.core_peak.busy());
  }
  return text;
}

std::string bench_layers_json(const BenchLayersFigures& figures) {
  Json layers = Json::array();
  for (const LayerFigure& f : figures.layers) layers.push_back(json_of(f, figures.core_peak.busy()));
  return Json{{"target", figures.target},
              {"fma_peak_gflops", figures.core_peak.best / kGiga},
              {"fma_peak_median_gflops", figures.core_peak.median / kGiga},
              {"fma_peak_lower_quartile_gflops", figures.core_peak.lower_quartile / kGiga},
              {"busy", figures.core_peak.busy()},
              {"layers", std::move(layers)}}
             .dump() +
         '\n';
}

}  // namespace lockstep::app
