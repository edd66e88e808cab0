#include "bench_text.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "arithmetic/convolution_rule.h"
#include "bench_peak_text.h"
#include "device/device_list.h"
#include "report/text_table.h"
#include "units.h"

namespace lockstep::app {
namespace {

using Json = nlohmann::ordered_json;
using measure::KernelFigure, measure::PeakFigure, measure::ScalingFigure, measure::Spread,
    measure::StepFigure;

constexpr int kNameWidth = 26;

bool multiplies(const KernelFigure& kernel) { return kernel.flops > 0; }

// "83-86 %": a slow quarter of the windows was below, a fast one above.
std::string quartiles(double flops, const Spread& seconds, double peak) {
  return fmt::format("{:.0f}-{:.0f} %", 100 * flops / seconds.upper_quartile / peak,
                     100 * flops / seconds.lower_quartile / peak);
}

std::string quartiles(const Spread& spread, double unit) {
  return fmt::format("{:.2f}-{:.2f}", spread.lower_quartile * unit, spread.upper_quartile * unit);
}

// A row of either table. No cores: nothing is known of a peak.
template <class Figure>
std::string row(std::string_view name, const Figure& figure, const PeakFigure& core_peak, int cores,
                std::string_view time) {
  std::string of_peak = "-", spread = "-", then = "-";
  if (cores > 0 && !core_peak.busy()) {
    of_peak = fmt::format("{:.1f} %", 100 * figure.share(core_peak.best));
    spread = quartiles(figure.flops, figure.time.seconds, core_peak.best * cores);
    then = fmt::format("{:.1f} %", 100 * figure.share_then());
  }
  return fmt::format("{:<{}}{:>8.1f}{:>10}{:>12}{:>10}{:>12}", name, kNameWidth,
                     figure.flops_per_second() / kGiga, of_peak, spread, then, time);
}

std::string heading(std::string_view name, std::string_view time) {
  return fmt::format("\n{:<{}}{:>8}{:>10}{:>12}{:>10}{:>12}", name, kNameWidth, "GFLOP/s", "of peak",
                     "quartiles", "then", time);
}

std::string microseconds(const KernelFigure& kernel) {
  return fmt::format("{:.0f}", kernel.time.seconds.median * kMicros);
}

// Which part of the time of all kernels each kind of work takes.
struct Parts {
  double products = 0, layers = 0, rest = 0;

  explicit Parts(const std::vector<KernelFigure>& kernels) {
    for (const KernelFigure& kernel : kernels) part(kernel.work) += kernel.time.seconds.median;
    const double all = products + layers + rest;
    for (double* const seconds : {&products, &layers, &rest}) *seconds /= all;
  }

 private:
  double& part(measure::WorkKind work) {
    switch (work) {
      case measure::WorkKind::products:
        return products;
      case measure::WorkKind::layers:
        return layers;
      case measure::WorkKind::rest:
        break;
    }
    return rest;
  }
};

std::string kernel_tables(const BenchFigures& figures) {
  std::string text = heading("kernel, one core", "us a batch") + "   algorithm\n";
  for (const KernelFigure& k : figures.kernels) {
    if (!multiplies(k)) continue;
    text += row(k.name, k, figures.core_peak, 1, microseconds(k));
    text += fmt::format("   {}\n", k.algorithm);
  }
  text += '\n';
  for (const KernelFigure& k : figures.kernels) {
    if (!multiplies(k)) text += fmt::format("{:<{}}{:>52}\n", k.name, kNameWidth, microseconds(k));
  }
  const Parts parts(figures.kernels);
  text += fmt::format(
      "\nof the time of all kernels: convolution and linear {:.1f} %, all other layers {:.1f} %, the rest "
      "{:.1f} %\n",
      100 * parts.products, 100 * parts.layers, 100 * parts.rest);
  return text;
}

std::string plural(int count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string name_of(const measure::StepSetting& setting) {
  if (!setting.names.empty()) return device::to_text(setting.names);
  const std::string threads = plural(setting.threads, "thread");
  return setting.devices == 1 ? threads : plural(setting.devices, "device") + " x " + threads;
}

std::string step_table(const BenchFigures& figures) {
  std::string text = heading("whole step", "s an epoch") + '\n';
  for (const StepFigure& s : figures.steps) {
    const std::string seconds = fmt::format("{:.2f}", s.seconds_per_epoch());
    text += row(name_of(s.setting), s, figures.core_peak, s.cores, seconds) + '\n';
  }
  return text;
}

std::string devices_of(const measure::StepSetting& setting) {
  if (!setting.names.empty()) return device::to_text(setting.names);
  return setting.devices == 1 ? "cpu:0" : fmt::format("{}xcpu", setting.devices);
}

std::string settings_table(const std::vector<StepFigure>& settings) {
  constexpr auto kRight = report::TextColumn::Align::right;
  const std::vector<report::TextColumn> columns{
      {"devices"},           {"threads", kRight}, {"GFLOP/s", kRight},  {"s an epoch", kRight},
      {"quartiles", kRight}, {"ratio", kRight},   {"quartiles", kRight}};
  std::vector<std::vector<std::string>> cells;
  for (const StepFigure& s : settings) {
    const Spread& ratio = s.time.against_first;
    cells.push_back(
        {devices_of(s.setting), s.setting.threads > 0 ? fmt::format("{}", s.setting.threads) : "-",
         fmt::format("{:.1f}", s.flops_per_second() / kGiga), fmt::format("{:.2f}", s.seconds_per_epoch()),
         quartiles(s.time.seconds, s.steps_per_epoch()), fmt::format("{:.2f}", ratio.median),
         quartiles(ratio, 1)});
  }
  return "\nWhole steps, in turns. ratio: how many times as fast as the first line, turn by turn.\n\n" +
         report::text_table(columns, cells);
}

std::string scaling_table(const ScalingFigure& scaling) {
  std::string text =
      fmt::format("\n{:<{}}{:>16}{:>16}\n", "all cores", kNameWidth, "steps a second", "quartiles");
  for (const ScalingFigure::Setting& s : scaling.settings) {
    const Spread& rate = s.steps_per_second;
    text += fmt::format("{:<{}}{:>16.1f}{:>16}\n", s.name, kNameWidth, rate.median,
                        fmt::format("{:.1f}-{:.1f}", rate.lower_quartile, rate.upper_quartile));
  }
  text += '\n';
  for (const ScalingFigure::Ratio& r : scaling.ratios) {
    text += fmt::format("{} do {:.3f} of what {} do (quartiles {:.3f}-{:.3f})\n", r.of, r.spread.median, r.to,
                        r.spread.lower_quartile, r.spread.upper_quartile);
  }
  return text;
}

Json quartiles_of(const Spread& spread) { return {spread.lower_quartile, spread.upper_quartile}; }

Json json_of(const ScalingFigure& scaling) {
  Json settings = Json::array(), ratios = Json::array();
  for (const ScalingFigure::Setting& s : scaling.settings) {
    settings.push_back({{"name", s.name},
                        {"steps_per_second", s.steps_per_second.median},
                        {"quartiles", quartiles_of(s.steps_per_second)}});
  }
  for (const ScalingFigure::Ratio& r : scaling.ratios) {
    ratios.push_back(
        {{"of", r.of}, {"to", r.to}, {"ratio", r.spread.median}, {"quartiles", quartiles_of(r.spread)}});
  }
  return {{"cores", scaling.cores}, {"settings", std::move(settings)}, {"ratios", std::move(ratios)}};
}

Json json_of(const StepFigure& step, const PeakFigure& core_peak) {
  // Where other things than cores compute there is no share of their peak.
  const bool known = step.cores > 0 && !core_peak.busy();
  Json json{{"devices", step.setting.devices},
            {"threads", step.setting.threads},
            {"gflops", step.flops_per_second() / kGiga},
            {"share", known ? Json(step.share(core_peak.best)) : Json()},
            {"share_then", known ? Json(step.share_then()) : Json()},
            {"seconds_per_epoch", step.seconds_per_epoch()},
            {"quartiles",
             {step.time.seconds.lower_quartile * step.steps_per_epoch(),
              step.time.seconds.upper_quartile * step.steps_per_epoch()}}};
  if (!step.setting.names.empty()) json["names"] = step.setting.names;
  return json;
}

Json json_of(const std::vector<StepFigure>& settings, const PeakFigure& core_peak) {
  Json rows = Json::array();
  for (const StepFigure& s : settings) {
    rows.push_back(json_of(s, core_peak));
    rows.back()["ratio"] = s.time.against_first.median;
    rows.back()["ratio_quartiles"] = quartiles_of(s.time.against_first);
  }
  return rows;
}

}  // namespace

std::string bench_table(const BenchFigures& figures) {
  std::string text = fmt::format(
      "A training step of {} at {}, minibatches of {}, convolution {}, {} kernels\n"
      "{}",
      figures.model, model::to_string(figures.pictures), figures.examples,
      arithmetic::name_of(figures.convolution), figures.target, peak_lines(figures.core_peak));
  if (!figures.core_peak.busy() && (!figures.kernels.empty() || !figures.steps.empty()))
    text += "of peak: of the best window of the run. then: of the windows just before and after.\n";
  if (!figures.kernels.empty()) text += kernel_tables(figures);
  text += figures.settings.empty() ? step_table(figures) : settings_table(figures.settings);
  if (figures.scaling) text += scaling_table(*figures.scaling);
  return text;
}

std::string bench_json(const BenchFigures& figures) {
  const bool busy = figures.core_peak.busy();
  Json kernels = Json::array(), other = Json::array();
  for (const KernelFigure& k : figures.kernels) {
    if (multiplies(k)) {
      kernels.push_back({{"name", k.name},
                         {"algorithm", k.algorithm},
                         {"gflops", k.flops_per_second() / kGiga},
                         {"share", busy ? Json() : Json(k.share(figures.core_peak.best))},
                         {"share_then", busy ? Json() : Json(k.share_then())}});
    } else {
      other.push_back({{"name", k.name}, {"microseconds", k.time.seconds.median * kMicros}});
    }
  }
  Json json{{"target", figures.target},
            {"model", figures.model},
            {"pictures", {figures.pictures.channels, figures.pictures.height, figures.pictures.width}},
            {"examples", figures.examples},
            {"convolution", arithmetic::name_of(figures.convolution)},
            {"fma_peak_gflops", figures.core_peak.best / kGiga},
            {"fma_peak_median_gflops", figures.core_peak.median / kGiga},
            {"fma_peak_lower_quartile_gflops", figures.core_peak.lower_quartile / kGiga},
            {"busy", busy},
            {"kernels", std::move(kernels)},
            {"other", std::move(other)}};
  if (!figures.kernels.empty()) {
    const Parts parts(figures.kernels);
    json["parts"] = {{"products", parts.products}, {"layers", parts.layers}, {"rest", parts.rest}};
  }
  if (figures.settings.empty()) {
    json["step"] = json_of(figures.steps.back(), figures.core_peak);
  } else {
    json["settings"] = json_of(figures.settings, figures.core_peak);
  }
  if (figures.scaling) json["scaling"] = json_of(*figures.scaling);
  return json.dump() + '\n';
}

}  // namespace lockstep::app
