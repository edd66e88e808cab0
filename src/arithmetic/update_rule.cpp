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

UpdateKind rule_for_momentum(float momentum) {
  return momentum == 0 ? UpdateKind::sgd : UpdateKind::momentum;
}

}  // namespace lockstep::arithmetic
