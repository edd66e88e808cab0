#include "bench_text.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace lockstep::app {
namespace {

using Json = nlohmann::ordered_json;
using measure::KernelFigure, measure::ScalingFigure, measure::Spread, measure::StepFigure;

constexpr double kGiga = 1e9, kMicros = 1e6;
constexpr int kNameWidth = 26;

bool multiplies(const KernelFigure& kernel) { return kernel.flops > 0; }

// "83-86 %": a slow quarter of the windows was below, a fast one above.
std::string quartiles(double flops, const Spread& seconds, double peak) {
  return fmt::format("{:.0f}-{:.0f} %", 100 * flops / seconds.upper_quartile / peak,
                     100 * flops / seconds.lower_quartile / peak);
}

// A row of either table. `peak`: of all cores that work on it.
template <class Figure>
std::string row(std::string_view name, const Figure& figure, double core_peak, double peak,
                std::string_view time) {
  return fmt::format("{:<{}}{:>8.1f}{:>8.1f} %{:>12}{:>8.1f} %{:>12}\n", name, kNameWidth,
                     figure.flops_per_second() / kGiga, 100 * figure.share(core_peak),
                     quartiles(figure.flops, figure.time.seconds, peak), 100 * figure.share_then(), time);
}

std::string heading(std::string_view name, std::string_view time) {
  return fmt::format("\n{:<{}}{:>8}{:>10}{:>12}{:>10}{:>12}\n", name, kNameWidth, "GFLOP/s", "of peak",
                     "quartiles", "then", time);
}

std::string microseconds(const KernelFigure& kernel) {
  return fmt::format("{:.0f}", kernel.time.seconds.median * kMicros);
}

std::string kernel_tables(const BenchFigures& figures) {
  std::string text = heading("kernel, one core", "us a batch");
  for (const KernelFigure& k : figures.kernels) {
    if (!multiplies(k)) continue;
    text += row(k.name, k, figures.core_peak, figures.core_peak, microseconds(k));
  }
  text += '\n';
  for (const KernelFigure& k : figures.kernels) {
    if (!multiplies(k)) text += fmt::format("{:<{}}{:>52}\n", k.name, kNameWidth, microseconds(k));
  }
  return text;
}

std::string step_table(const BenchFigures& figures) {
  std::string text = heading("whole step", "s an epoch");
  for (const StepFigure& s : figures.steps) {
    text += row(fmt::format("{} thread{}", s.threads, s.threads == 1 ? "" : "s"), s, figures.core_peak,
                figures.core_peak * s.threads, fmt::format("{:.2f}", s.seconds_per_epoch()));
  }
  return text;
}

Json json_of(const StepFigure& step, double core_peak) {
  return {{"threads", step.threads},
          {"gflops", step.flops_per_second() / kGiga},
          {"share", step.share(core_peak)},
          {"share_then", step.share_then()},
          {"seconds_per_epoch", step.seconds_per_epoch()},
          {"quartiles",
           {step.time.seconds.lower_quartile * StepFigure::kStepsPerEpoch,
            step.time.seconds.upper_quartile * StepFigure::kStepsPerEpoch}}};
}

}  // namespace

std::string bench_table(const BenchFigures& figures) {
  std::string text = fmt::format(
      "LeNet's training step, minibatches of 256, {} kernels\nFMA peak of one core: {:.1f} GFLOP/s (best "
      "window; "
      "median {:.1f})\nof peak: of the best window of the run. then: of the windows just before and after.\n",
      figures.target, figures.core_peak / kGiga, figures.core_peak_median / kGiga);
  if (!figures.kernels.empty()) text += kernel_tables(figures);
  text += step_table(figures);
  if (const std::optional<ScalingFigure>& s = figures.scaling) {
    text += fmt::format(
        "\n{} threads of one device do {:.3f} of what {} independent runs do (quartiles {:.3f}-{:.3f})\n",
        s->threads, s->ratio.median, s->threads, s->ratio.lower_quartile, s->ratio.upper_quartile);
  }
  return text;
}

std::string bench_json(const BenchFigures& figures) {
  Json kernels = Json::array(), other = Json::array();
  for (const KernelFigure& k : figures.kernels) {
    if (multiplies(k)) {
      kernels.push_back({{"name", k.name},
                         {"gflops", k.flops_per_second() / kGiga},
                         {"share", k.share(figures.core_peak)},
                         {"share_then", k.share_then()}});
    } else {
      other.push_back({{"name", k.name}, {"microseconds", k.time.seconds.median * kMicros}});
    }
  }
  Json json{{"target", figures.target},
            {"fma_peak_gflops", figures.core_peak / kGiga},
            {"fma_peak_median_gflops", figures.core_peak_median / kGiga},
            {"kernels", std::move(kernels)},
            {"other", std::move(other)},
            {"step", json_of(figures.steps.back(), figures.core_peak)}};
  if (const std::optional<ScalingFigure>& s = figures.scaling) {
    json["scaling"] = {{"threads", s->threads},
                       {"ratio", s->ratio.median},
                       {"quartiles", {s->ratio.lower_quartile, s->ratio.upper_quartile}}};
  }
  return json.dump() + '\n';
}

}  // namespace lockstep::app
