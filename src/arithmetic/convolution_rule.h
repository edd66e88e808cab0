// The rules by name, as people type them and as files keep them.
#pragma once
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arithmetic/algorithm.h"

namespace lockstep::arithmetic {

struct NamedConvolutionRule {
  ConvolutionRule rule;
  std::string_view name;
};
inline constexpr std::array kConvolutionRules{NamedConvolutionRule{ConvolutionRule::fast, "fast"},
                                              NamedConvolutionRule{ConvolutionRule::direct, "direct"}};

constexpr std::string_view name_of(ConvolutionRule rule) {
  return std::ranges::find(kConvolutionRules, rule, &NamedConvolutionRule::rule)->name;
}

// Nothing if there is no such name.
constexpr std::optional<ConvolutionRule> convolution_rule_named(std::string_view name) {
  const auto found = std::ranges::find(kConvolutionRules, name, &NamedConvolutionRule::name);
  if (found == kConvolutionRules.end()) return std::nullopt;
  return found->rule;
}

// All names, for error messages.
inline std::vector<std::string> convolution_rule_names() {
  std::vector<std::string> names;
  names.reserve(kConvolutionRules.size());
  for (const NamedConvolutionRule& named : kConvolutionRules) names.emplace_back(named.name);
  return names;
}

}  // namespace lockstep::arithmetic
