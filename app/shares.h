// --shares 3,1: the proportions in which devices get the packs of a minibatch.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace lockstep::app {

// Finite numbers above 0. Throws Error(usage).
std::vector<double> share_list(std::string_view name, std::string_view text);

// Adds the option. Requires: `shares` outlives the parser.
CLI::Option* add_shares(CLI::App& parser, std::optional<std::vector<double>>& shares);

// No shares, or one a device; else Error(usage).
void expect_share_a_device(std::string_view name, std::span<const double> shares, std::size_t devices);

}  // namespace lockstep::app
