#include "arithmetic/update_rule.h"

namespace lockstep::arithmetic {
namespace {

constexpr bool rows_are_in_order() {
  for (std::size_t i = 0; i < kUpdateRules.size(); ++i) {
    if (kUpdateRules[i].kind != static_cast<UpdateKind>(i)) return false;
  }
  return true;
}
static_assert(rows_are_in_order(), "update_rule() finds a row by the number of its kind");

}  // namespace

const UpdateRule& update_rule(UpdateKind kind) { return kUpdateRules.at(static_cast<std::size_t>(kind)); }

std::optional<UpdateKind> update_kind_named(std::string_view name) {
  const auto found = std::ranges::find(kUpdateRules, name, &UpdateRule::name);
  if (found == kUpdateRules.end()) return std::nullopt;
  return found->kind;
}

std::vector<std::string> update_kind_names() {
  std::vector<std::string> names;
  names.reserve(kUpdateRules.size());
  for (const UpdateRule& rule : kUpdateRules) names.emplace_back(rule.name);
  return names;
}

}  // namespace lockstep::arithmetic
