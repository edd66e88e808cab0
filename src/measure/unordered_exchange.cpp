#include "measure/unordered_exchange.h"

#include <algorithm>

namespace lockstep::measure {
namespace {

namespace exchange = program::exchange;
using exchange::Place;

std::vector<arithmetic::JoinPair> one_after_the_other(std::size_t sums) {
  std::vector<arithmetic::JoinPair> pairs;
  for (int from = 1; from < static_cast<int>(sums); ++from) pairs.push_back({0, from});
  return pairs;
}

// Rewrites one device's list.
class Rewriter {
 public:
  Rewriter(const exchange::Setting& setting, int device)
      : setting_(setting),
        groups_(exchange::group_sums(setting.sums, setting.smallest_group)),
        added_(groups_.size(), false) {
    std::size_t first = 0;
    for (const arithmetic::PackRange share : setting.shares) {
      const std::size_t count = arithmetic::cover(setting.packs, share).size();
      if (count > 0) first_of_device_.push_back(first);
      first += count;
    }
    held_ = arithmetic::cover(setting.packs, setting.shares[static_cast<std::size_t>(device)]).size();
  }

  exchange::List rewrite(const exchange::List& list) {
    for (const exchange::Instruction& instruction : list) {
      if (instruction.group >= 0) add_held(instruction.group);
      if (!is_further_subtree(instruction)) result_.push_back(rewritten(instruction));
      place_.push_back(static_cast<int>(result_.size()) - 1);
    }
    return std::move(result_);
  }

 private:
  // Before anything else of the group.
  void add_held(int group) {
    if (held_ < 2 || added_[static_cast<std::size_t>(group)]) return;
    added_[static_cast<std::size_t>(group)] = true;
    const exchange::Group g = groups_[static_cast<std::size_t>(group)];
    for (int sum = g.first; sum < g.last; ++sum) {
      exchange::Join join{
          {sum, 0, setting_.sums[static_cast<std::size_t>(sum)]}, {}, one_after_the_other(held_)};
      for (std::size_t slot = 0; slot < held_; ++slot)
        join.subtrees.push_back({Place::Of::held, join.range, slot});
      result_.push_back({std::move(join), group});
    }
  }

  // All but the first subtree that a device sends to an owner; they follow each other.
  bool is_further_subtree(const exchange::Instruction& instruction) const {
    if (const auto* send = std::get_if<exchange::Send>(&instruction.operation))
      return send->place.of == Place::Of::held && send->place.slot > 0;
    const auto* const receive = std::get_if<exchange::Receive>(&instruction.operation);
    if (receive == nullptr || receive->place.of != Place::Of::inbox || result_.empty()) return false;
    const auto* const last = std::get_if<exchange::Receive>(&result_.back().operation);
    return last != nullptr && last->place.of == Place::Of::inbox && last->from == receive->from &&
           last->place.range == receive->place.range;
  }

  exchange::Instruction rewritten(exchange::Instruction instruction) const {
    if (instruction.after >= 0) instruction.after = place_[static_cast<std::size_t>(instruction.after)];
    if (auto* const join = std::get_if<exchange::Join>(&instruction.operation)) {
      std::vector<Place> sums;
      sums.reserve(first_of_device_.size());
      for (const std::size_t first : first_of_device_) sums.push_back(join->subtrees[first]);
      join->subtrees = std::move(sums);
      join->pairs = one_after_the_other(join->subtrees.size());
    }
    return instruction;
  }

  const exchange::Setting& setting_;
  const std::vector<exchange::Group> groups_;
  std::vector<bool> added_;                   // by group: the device's own subtrees
  std::vector<std::size_t> first_of_device_;  // its first subtree among all; devices without packs have none
  std::size_t held_ = 0;                      // subtrees of this device
  exchange::List result_;
  std::vector<int> place_;  // by old instruction: where it is now, or what stands for it
};

}  // namespace

std::vector<exchange::List> emit_unordered(const exchange::Setting& setting,
                                           std::span<const exchange::Shard> shards) {
  std::vector<exchange::List> lists = exchange::emit(setting, shards);
  for (int device = 0; device < setting.devices(); ++device) {
    exchange::List& list = lists[static_cast<std::size_t>(device)];
    list = Rewriter(setting, device).rewrite(list);
  }
  return lists;
}

// With one subtree there is nothing to add; the join of all devices' sums has some that were received.
bool only_adds(const exchange::Join& join) {
  return join.subtrees.size() > 1 &&
         std::ranges::all_of(join.subtrees, [](const Place& place) { return place.of == Place::Of::held; });
}

}  // namespace lockstep::measure
