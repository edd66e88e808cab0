#include <algorithm>
#include <numeric>

#include "base/divide.h"
#include "base/error.h"
#include "program/exchange/exchange.h"

namespace lockstep::program::exchange {
namespace {

// One complete subtree of the pack tree: the `slot`-th that `device` holds.
struct Subtree {
  int device;
  std::size_t slot;
};

class Emitter {
 public:
  Emitter(const Setting& setting, std::span<const Shard> shards)
      : setting_(setting),
        shards_(shards),
        groups_(group_sums(setting.sums, setting.smallest_group)),
        lists_(setting.shares.size()),
        inbox_(setting.shares.size(), 0) {
    std::vector<arithmetic::PackRange> all;
    for (int device = 0; device < setting.devices(); ++device) {
      const std::vector<arithmetic::PackRange> held =
          arithmetic::cover(setting.packs, setting.shares[static_cast<std::size_t>(device)]);
      for (std::size_t slot = 0; slot < held.size(); ++slot) subtrees_.push_back({device, slot});
      all.insert(all.end(), held.begin(), held.end());
    }
    pairs_ = arithmetic::join_pairs(setting.packs, {0, setting.packs}, all);
  }

  // A group's results go back while the next group's sums come in.
  std::vector<List> emit() {
    const int groups = static_cast<int>(groups_.size());
    for (int group = 0; group <= groups; ++group) {
      if (group < groups) gather(group);
      if (group > 0) finish(group - 1);
    }
    if (setting_.shard_optimizer) update_shards();
    return std::move(lists_);
  }

 private:
  List& list(int device) { return lists_[static_cast<std::size_t>(device)]; }
  std::vector<Shard> shards_of(Group group) const {
    std::vector<Shard> shards;
    std::ranges::copy_if(shards_, std::back_inserter(shards), [&](const Shard& shard) {
      return shard.range.count > 0 && shard.range.sum >= group.first && shard.range.sum < group.last;
    });
    return shards;
  }
  bool sends_gradient(const Shard& shard) const {
    return !setting_.shard_optimizer || !setting_.trained[static_cast<std::size_t>(shard.range.sum)];
  }

  // first round: subtrees to their owners
  void gather(int group) {
    for (const Shard& shard : shards_of(groups_[static_cast<std::size_t>(group)])) {
      Join join{shard.range, {}, pairs_};
      int last_receive = -1;
      for (const Subtree& subtree : subtrees_) {
        const Place held{Place::Of::held, shard.range, subtree.slot};
        if (subtree.device == shard.owner) {
          join.subtrees.push_back(held);
          continue;
        }
        const Place inbox{Place::Of::inbox, shard.range, take_inbox(shard)};
        join.subtrees.push_back(inbox);
        list(subtree.device).push_back({Send{shard.owner, held}, group});
        last_receive = static_cast<int>(list(shard.owner).size());
        list(shard.owner).push_back({Receive{subtree.device, inbox}});
      }
      joins_.push_back({group, shard, std::move(join), last_receive});
    }
  }

  std::size_t take_inbox(const Shard& shard) {
    std::size_t& used = inbox_[static_cast<std::size_t>(shard.owner)];
    return std::exchange(used, used + round_up(shard.range.count, kLineFloats));
  }

  // join at the owner; second round: the result to everyone
  void finish(int group) {
    const auto of_group = [&](const PendingJoin& j) { return j.group == group; };
    for (PendingJoin& pending : joins_) {
      if (!of_group(pending)) continue;
      list(pending.shard.owner).push_back({std::move(pending.join), group, pending.last_receive});
    }
    for (const PendingJoin& pending : joins_) {
      if (of_group(pending) && sends_gradient(pending.shard)) hand_out(pending.shard, Place::Of::gradient);
    }
    std::erase_if(joins_, of_group);
  }

  void hand_out(const Shard& shard, Place::Of of) {
    const Place place{of, shard.range, 0};
    for (int device = 0; device < setting_.devices(); ++device) {
      if (device == shard.owner) continue;
      list(shard.owner).push_back({Send{device, place}});
      list(device).push_back({Receive{shard.owner, place}});
    }
  }

  // Owners update what they own once everybody knows that all gradients are finite. Parameters are written
  // only when the device's own packs no longer read them: after its last group.
  void update_shards() {
    const int last_group = static_cast<int>(groups_.size()) - 1;
    std::vector<int> last_receive(lists_.size(), -1);
    for (int device = 0; device < setting_.devices(); ++device) {
      Check check;
      for (const Shard& shard : shards_) {
        if (shard.owner == device) check.ranges.push_back(shard.range);
      }
      list(device).push_back({std::move(check), last_group});
    }
    for (int from = 0; from < setting_.devices(); ++from) {
      const Place verdict{Place::Of::verdict, {0, 0, 1}, static_cast<std::size_t>(from)};
      for (int to = 0; to < setting_.devices(); ++to) {
        if (to == from) continue;
        list(from).push_back({Send{to, verdict}});
        last_receive[static_cast<std::size_t>(to)] = static_cast<int>(list(to).size());
        list(to).push_back({Receive{from, verdict}});
      }
    }
    for (int device = 0; device < setting_.devices(); ++device) {
      list(device).push_back({Agree{}, last_group, last_receive[static_cast<std::size_t>(device)]});
    }
    for (const Shard& shard : shards_) {
      if (!sends_gradient(shard)) list(shard.owner).push_back({Update{shard.range}});
    }
    for (const Shard& shard : shards_) {
      if (!sends_gradient(shard)) hand_out(shard, Place::Of::parameter);
    }
  }

  struct PendingJoin {
    int group;
    Shard shard;
    Join join;
    int last_receive;
  };

  const Setting& setting_;
  const std::span<const Shard> shards_;
  const std::vector<Group> groups_;
  std::vector<Subtree> subtrees_;  // of all devices, in the order of the packs
  std::vector<arithmetic::JoinPair> pairs_;
  std::vector<List> lists_;         // by device
  std::vector<std::size_t> inbox_;  // by device: floats taken
  std::vector<PendingJoin> joins_;
};

}  // namespace

std::vector<Group> group_sums(std::span<const std::size_t> sums, std::size_t smallest) {
  std::vector<Group> groups;
  std::size_t elements = 0;
  for (int sum = 0; sum < static_cast<int>(sums.size()); ++sum) {
    if (groups.empty() || elements >= smallest) {
      const std::size_t rest = std::accumulate(sums.begin() + sum, sums.end(), std::size_t{0});
      if (groups.empty() || rest >= smallest) {
        groups.push_back({sum, sum});
        elements = 0;
      }
    }
    groups.back().last = sum + 1;
    elements += sums[static_cast<std::size_t>(sum)];
  }
  return groups;
}

std::vector<List> emit(const Setting& setting, std::span<const Shard> shards) {
  return Emitter(setting, shards).emit();
}

std::size_t inbox_floats(const List& list) {
  std::size_t most = 0;
  for (const Instruction& instruction : list) {
    const auto* const receive = std::get_if<Receive>(&instruction.operation);
    if (receive == nullptr || receive->place.of != Place::Of::inbox) continue;
    most = std::max(most, receive->place.slot + receive->place.range.count);
  }
  return most;
}

}  // namespace lockstep::program::exchange
