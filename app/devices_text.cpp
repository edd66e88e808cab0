#include "devices_text.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "device/device_list.h"
#include "report/text_table.h"
#include "units.h"

namespace lockstep::app {
namespace {

using report::TextColumn;
using Json = nlohmann::ordered_json;
using Cells = std::vector<std::string>;

constexpr auto kRight = TextColumn::Align::right;

// One line of plain characters: drivers say what they like.
std::string plain(std::string text) {
  std::ranges::replace_if(
      text,
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e; },
      ' ');
  text.erase(text.find_last_not_of(' ') + 1);
  return text.empty() ? "-" : text;
}

std::string verdict(const SurveyedDevice& device) {
  return device.exact() ? "exact" : "refused: " + plain(device.refused);
}

std::string table(const Survey& survey) {
  const std::vector<TextColumn> columns{{"device"},
                                        {"kind"},
                                        {"model"},
                                        {"driver"},
                                        {"memory", kRight},
                                        {"units", kRight},
                                        {"multiply-adds", kRight},
                                        {"results"}};
  std::vector<Cells> rows;
  rows.reserve(survey.devices.size());
  for (const SurveyedDevice& d : survey.devices) {
    rows.push_back({d.what.name, d.what.kind, plain(d.what.model), plain(d.what.driver),
                    fmt::format("{:.1f} GB", static_cast<double>(d.what.memory) / kGiga),
                    fmt::format("{}", d.what.units),
                    d.exact() ? fmt::format("{:.1f} G/s", d.multiply_adds / kGiga) : "-", verdict(d)});
  }
  return report::text_table(columns, rows);
}

// The last OpenCL device on the host's cores answers to as many names as it has units; one row is listed.
std::string divisible_line(const Survey& survey) {
  const auto is_opencl = [](const SurveyedDevice& d) { return device::kind_of(d.what.name) == "opencl"; };
  const auto last = std::ranges::find_if(survey.devices.rbegin(), survey.devices.rend(), is_opencl);
  if (last == survey.devices.rend() || !last->exact() || !last->what.on_cores || last->what.units < 2)
    return "";
  const auto most = std::ranges::count_if(survey.devices, is_opencl) - 1 + last->what.units - 1;
  return fmt::format("{0} computes on the host's cores and can be divided: {0} {1} opencl:{2}\n",
                     last->what.name, last->what.units == 2 ? "and" : "to", most);
}

std::string lines_below(const Survey& survey) {
  std::string text = divisible_line(survey);
  for (const std::string& line : survey.missing) text += plain(line) + '\n';
  return text.empty() ? "" : "\n" + text;
}

std::string trials_text(const DevicesReport& report) {
  if (report.trials.empty()) return fmt::format("not tried: {}\n", report.not_tried);
  const std::vector<TextColumn> columns{{"devices"},           {"convolution"}, {"packs", kRight},
                                        {"ms a step", kRight}, {"same bits"},   {"weights"}};
  std::vector<Cells> rows;
  for (const GoldenTrial& t : report.trials) {
    Cells row{t.devices, std::string(arithmetic::name_of(t.convolution))};
    if (t.done()) {
      row.insert(row.end(),
                 {fmt::format("{}", fmt::join(t.packs, "+")), fmt::format("{:.2f}", t.seconds * kMillis),
                  t.same_bits() ? "yes" : "no", t.weights});
    } else {
      row.insert(row.end(), {"-", "-", "-", plain(t.failed)});
    }
    rows.push_back(std::move(row));
  }
  return report::text_table(columns, rows);
}

std::string expectation(const DevicesReport& report) {
  using enum arithmetic::ConvolutionRule;
  if (!report.golden_data)
    return "other pictures than Fashion-MNIST; the weights should be those of the first device";
  return fmt::format("Fashion-MNIST; the weights should be\n{} (fast) and {} (direct)", golden_weights(fast),
                     golden_weights(direct));
}

Json json_of(const SurveyedDevice& d) {
  return {{"name", d.what.name},
          {"kind", d.what.kind},
          {"model", d.what.model},
          {"driver", d.what.driver},
          {"memory", d.what.memory},
          {"units", d.what.units},
          {"multiply_adds_per_second", d.exact() ? Json(d.multiply_adds) : Json()},
          {"exact", d.exact()},
          {"refused", d.exact() ? Json() : Json(d.refused)}};
}

// Drivers say what they like, in any bytes.
std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

std::string devices_table(const Survey& survey) { return table(survey) + lines_below(survey); }

std::string device_json(const SurveyedDevice& device) { return text_of(json_of(device)); }

std::string devices_json(const Survey& survey) {
  Json json{{"devices", Json::array()}, {"missing", survey.missing}};
  for (const SurveyedDevice& device : survey.devices) json["devices"].push_back(json_of(device));
  return text_of(json) + '\n';
}

std::string devices_report(const DevicesReport& report) {
  return fmt::format(
      "Lockstep devices report\n\n"
      "lockstep {}\n"
      "system: {}\n\n"
      "Devices, after the full probe:\n{}{}\n"
      "LeNet, {} steps with minibatches of 256 on {}:\n{}\n"
      "Please send this text to the issue tracker of the project, also if all is well: it is how we learn\n"
      "about devices that we do not have.\n",
      report.version, report.system, table(report.survey), lines_below(report.survey), kGoldenSteps,
      expectation(report), trials_text(report));
}

}  // namespace lockstep::app
