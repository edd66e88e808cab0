// Joins of counts, which lie in the host's memory whatever the device is.
#pragma once
#include <cstdint>
#include <span>

#include "program/program.h"

namespace lockstep::device {

inline bool joins_counts(const program::Join& join) {
  return join.op == program::Join::Operator::integer_add || join.op == program::Join::Operator::both;
}

// `counts(buffer)` gives the counts of a buffer.
template <class Counts>
void join_counts(const program::Join& join, const Counts& counts) {
  const auto part = [&](const program::Region& region) {
    return std::span<std::int64_t>(counts(region.buffer)).subspan(region.first, region.count);
  };
  std::vector<std::int64_t> values(join.inputs.size());
  for (std::size_t i = 0; i < join.output.count; ++i) {
    for (std::size_t v = 0; v < values.size(); ++v) values[v] = part(join.inputs[v])[i];
    for (const arithmetic::JoinPair& pair : join.pairs) {
      std::int64_t& into = values[static_cast<std::size_t>(pair.into)];
      const std::int64_t from = values[static_cast<std::size_t>(pair.from)];
      into = join.op == program::Join::Operator::both ? into & from : into + from;
    }
    part(join.output)[i] = values[0];
  }
}

}  // namespace lockstep::device
