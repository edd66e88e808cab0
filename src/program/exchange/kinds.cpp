// The table of exchanges, best first.
#include <algorithm>
#include <array>
#include <string>

#include "base/error.h"
#include "base/nearest.h"
#include "program/exchange/sharded.h"
#include "program/exchange/star.h"

namespace lockstep::program::exchange {
namespace {

constexpr std::array kKinds{Kind{"sharded", sharded}, Kind{"star", star}};

}  // namespace

std::span<const Kind> kinds() { return kKinds; }

const Kind& kind_named(std::string_view name) {
  const auto found = std::ranges::find(kKinds, name, &Kind::name);
  if (found != kKinds.end()) return *found;
  std::vector<std::string> names;
  names.reserve(kKinds.size());
  for (const Kind& kind : kKinds) names.emplace_back(kind.name);
  throw Error(Fault::usage, "no exchange is called '{}'{}", name, suggestion(name, names));
}

}  // namespace lockstep::program::exchange
