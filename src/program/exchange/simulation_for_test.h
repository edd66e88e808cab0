// The lists of an exchange, run on symbols instead of numbers: a sum is the text of its additions.
//
// Memory is modelled as the transport treats it: a message is copied at any moment after both sides have
// posted it, so a list that writes what it has sent too early shows here.
#pragma once
#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <random>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "program/exchange/exchange.h"

namespace lockstep::program::exchange {

// The pack tree as plain recursion.
inline std::string tree_text(int first, int last) {
  if (last - first == 1) return std::to_string(first);
  int left = 1;
  while (2 * left < last - first) left *= 2;
  return fmt::format("({}+{})", tree_text(first, first + left), tree_text(first + left, last));
}

// Runs the lists of all devices under an interleaving drawn from `seed`.
class Simulation {
 public:
  Simulation(const Setting& setting, std::span<const Shard> shards, const std::vector<List>& lists,
             unsigned seed)
      : setting_(setting), shards_(shards), lists_(lists), random_(seed), groups_(group_sums(setting.sums)) {
    for (int d = 0; d < setting.devices(); ++d) devices_.emplace_back().batch.assign(list(d).size(), -1);
  }

  // False if nobody can move before everybody is done.
  bool run() {
    std::vector<std::function<bool()>> moves;
    for (int d = 0; d < setting_.devices(); ++d) {
      moves.emplace_back([this, d] { return complete_group(d); });
      moves.emplace_back([this, d] { return advance(d); });
      for (int from = 0; from < setting_.devices(); ++from)
        moves.emplace_back([this, from, d] { return deliver(from, d); });
    }
    for (bool moved = true; moved;) {
      moved = false;
      std::ranges::shuffle(moves, random_);
      for (const auto& move : moves) moved = move() || moved;
    }
    for (int d = 0; d < setting_.devices(); ++d) {
      if (device(d).next != list(d).size() || !device(d).pending.empty()) return false;
    }
    return channels_are_empty();
  }

  std::string at(int d, const Place& place) {
    const auto found = device(d).memory.find(key(place));
    return found == device(d).memory.end() ? "nothing" : found->second;
  }

 private:
  // of, sum, first, count, slot
  using Key = std::tuple<Place::Of, int, std::size_t, std::size_t, std::size_t>;
  struct Device {
    std::map<Key, std::string> memory;
    std::size_t next = 0;             // of its list
    int groups = 0;                   // of sums, complete
    int batches = 0;                  // of messages, posted
    std::vector<int> batch;           // by instruction: posted in which
    std::map<int, int> pending = {};  // by batch: receives that have not arrived
  };
  struct Wanted {
    Place place;
    int batch;
  };

  static Key key(const Place& p) { return {p.of, p.range.sum, p.range.first, p.range.count, p.slot}; }
  Device& device(int d) { return devices_[static_cast<std::size_t>(d)]; }
  const List& list(int d) const { return lists_[static_cast<std::size_t>(d)]; }

  // The device's own sums of a group come into being, now or later.
  bool complete_group(int d) {
    if (device(d).groups == static_cast<int>(groups_.size())) return false;
    if (random_() % 4 != 0) return true;
    const Group group = groups_[static_cast<std::size_t>(device(d).groups++)];
    const std::vector<arithmetic::PackRange> held =
        arithmetic::cover(setting_.packs, setting_.shares[static_cast<std::size_t>(d)]);
    for (const Shard& shard : shards_) {
      if (shard.range.sum < group.first || shard.range.sum >= group.last) continue;
      for (std::size_t slot = 0; slot < held.size(); ++slot)
        device(d).memory[key({Place::Of::held, shard.range, slot})] =
            tree_text(held[slot].first, held[slot].last);
    }
    return true;
  }

  bool advance(int d) {
    Device& self = device(d);
    if (self.next == list(d).size()) return false;
    const Instruction& instruction = list(d)[self.next];
    if (instruction.group >= self.groups) return false;
    if (is_message(instruction)) {
      post(d);
      return true;
    }
    if (instruction.after >= 0 &&
        self.pending.contains(self.batch[static_cast<std::size_t>(instruction.after)]))
      return false;
    std::visit([&](const auto& operation) { perform(d, operation); }, instruction.operation);
    ++self.next;
    return true;
  }

  static bool is_message(const Instruction& i) {
    return std::holds_alternative<Send>(i.operation) || std::holds_alternative<Receive>(i.operation);
  }

  // All messages up to the first one that is not ready go together.
  void post(int d) {
    Device& self = device(d);
    const int batch = self.batches++;
    for (; self.next < list(d).size(); ++self.next) {
      const Instruction& instruction = list(d)[self.next];
      if (!is_message(instruction) || instruction.group >= self.groups) return;
      self.batch[self.next] = batch;
      if (const auto* const send = std::get_if<Send>(&instruction.operation)) {
        sent_[{d, send->to}].push_back(send->place);
      } else {
        const auto& receive = std::get<Receive>(instruction.operation);
        wanted_[{receive.from, d}].push_back({receive.place, batch});
        ++self.pending[batch];
      }
    }
  }

  bool deliver(int from, int to) {
    std::deque<Place>& sent = sent_[{from, to}];
    std::deque<Wanted>& wanted = wanted_[{from, to}];
    if (sent.empty() || wanted.empty() || random_() % 3 == 0) return !sent.empty() && !wanted.empty();
    const Place source = sent.front(), target = wanted.front().place;
    EXPECT_EQ(source.range, target.range) << "from " << from << " to " << to;
    if (target.of == Place::Of::parameter) {
      EXPECT_EQ(device(to).groups, static_cast<int>(groups_.size())) << "packs still read the parameter";
    }
    device(to).memory[key(target)] = at(from, source);
    int& left = device(to).pending[wanted.front().batch];
    if (--left == 0) device(to).pending.erase(wanted.front().batch);
    sent.pop_front();
    wanted.pop_front();
    return true;
  }

  bool channels_are_empty() const {
    return std::ranges::all_of(sent_, [](const auto& channel) { return channel.second.empty(); }) &&
           std::ranges::all_of(wanted_, [](const auto& channel) { return channel.second.empty(); });
  }

  void perform(int, const Send&) {}
  void perform(int, const Receive&) {}
  void perform(int d, const Join& join) {
    const auto value = [&](int index) -> std::string& {
      return device(d).memory[key(join.subtrees[static_cast<std::size_t>(index)])];
    };
    for (const arithmetic::JoinPair& pair : join.pairs)
      value(pair.into) = fmt::format("({}+{})", value(pair.into), value(pair.from));
    device(d).memory[key({Place::Of::gradient, join.range, 0})] = "mean " + value(0);
  }
  void perform(int d, const Check& check) {
    for (const Range& range : check.ranges) EXPECT_NE(at(d, {Place::Of::gradient, range, 0}), "nothing");
    device(d).memory[key({Place::Of::verdict, {0, 0, 1}, static_cast<std::size_t>(d)})] =
        fmt::format("verdict {}", d);
  }
  void perform(int d, const Agree&) {
    for (int other = 0; other < setting_.devices(); ++other) {
      EXPECT_EQ(at(d, {Place::Of::verdict, {0, 0, 1}, static_cast<std::size_t>(other)}),
                fmt::format("verdict {}", other));
    }
  }
  void perform(int d, const Update& update) {
    device(d).memory[key({Place::Of::parameter, update.range, 0})] =
        fmt::format("updated by {}", at(d, {Place::Of::gradient, update.range, 0}));
  }

  const Setting& setting_;
  const std::span<const Shard> shards_;
  const std::vector<List>& lists_;
  std::mt19937 random_;
  const std::vector<Group> groups_;
  std::vector<Device> devices_;
  std::map<std::pair<int, int>, std::deque<Place>> sent_;
  std::map<std::pair<int, int>, std::deque<Wanted>> wanted_;
};

}  // namespace lockstep::program::exchange
