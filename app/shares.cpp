#include "shares.h"

#include <charconv>
#include <cmath>

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "lists.h"

namespace lockstep::app {
namespace {

double share(std::string_view name, std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value) || value <= 0)
    throw Error(Fault::usage, "{}: expected numbers above 0, one a device, as in 3,1, found '{}'", name,
                text);
  return value;
}

}  // namespace

std::vector<double> share_list(std::string_view name, std::string_view text) {
  return list_of(text, [name](std::string_view part) { return share(name, part); });
}

CLI::Option* add_shares(CLI::App& parser, std::optional<std::vector<double>>& shares) {
  return parser
      .add_option_function<std::string>(
          "--shares", [&shares](const std::string& text) { shares = share_list("--shares", text); },
          "Packs go to the devices in these proportions, as in 3,1 (default: equal ones, or what a short "
          "measurement finds where devices differ)")
      ->type_name("LIST");
}

void expect_share_a_device(std::string_view name, std::span<const double> shares, std::size_t devices) {
  if (!shares.empty() && shares.size() != devices)
    throw Error(Fault::usage, "{}: expected {} number{}, one a device, found {}", name, devices,
                devices == 1 ? "" : "s", shares.size());
}

}  // namespace lockstep::app
