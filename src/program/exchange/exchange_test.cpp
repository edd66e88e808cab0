// The lists of an exchange: what they come to under any interleaving, and what they cost.
#include "program/exchange/exchange.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "model/zoo.h"
#include "plan/deal.h"
#include "program/compile.h"
#include "program/exchange/simulation_for_test.h"

namespace lockstep::program::exchange {
namespace {

Setting make_setting(std::vector<std::size_t> sums, int packs, int devices) {
  Setting setting{.sums = std::move(sums), .packs = packs, .shares = plan::deal_packs({0, packs}, devices)};
  setting.trained.assign(setting.sums.size(), true);
  setting.trained[0] = false;  // the loss
  return setting;
}

std::size_t total(std::span<const std::size_t> sums) {
  return std::accumulate(sums.begin(), sums.end(), std::size_t{0});
}

std::size_t subtrees(const Setting& setting, int device) {
  return arithmetic::cover(setting.packs, setting.shares[static_cast<std::size_t>(device)]).size();
}

void expect_every_element_owned_once(const Setting& setting, std::span<const Shard> shards) {
  std::vector<std::size_t> next(setting.sums.size(), 0);
  for (const Shard& shard : shards) {
    std::size_t& end = next[static_cast<std::size_t>(shard.range.sum)];
    EXPECT_EQ(shard.range.first, end);
    EXPECT_GE(shard.owner, 0);
    EXPECT_LT(shard.owner, setting.devices());
    end += shard.range.count;
  }
  EXPECT_EQ(next, setting.sums);
}

// Every device ends with the whole tree, whatever the interleaving.
void expect_tree_everywhere(const Setting& setting, std::span<const Shard> shards,
                            const std::vector<List>& lists, unsigned seed) {
  Simulation simulation(setting, shards, lists, seed);
  ASSERT_TRUE(simulation.run()) << "somebody waits for ever";
  const std::string mean = "mean " + tree_text(0, setting.packs);
  for (int device = 0; device < setting.devices(); ++device) {
    for (const Shard& shard : shards) {
      const bool updated =
          setting.shard_optimizer && setting.trained[static_cast<std::size_t>(shard.range.sum)];
      if (!updated || device == shard.owner) {
        ASSERT_EQ(simulation.at(device, {Place::Of::gradient, shard.range, 0}), mean) << "device " << device;
      }
      if (updated) {
        ASSERT_EQ(simulation.at(device, {Place::Of::parameter, shard.range, 0}), "updated by " + mean)
            << "device " << device;
      }
    }
  }
}

struct Traffic {
  std::size_t messages = 0, elements = 0;
  void add(const Place& place) {
    ++messages;
    elements += place.range.count;
  }
  bool operator==(const Traffic&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Traffic& t) {
  return out << t.messages << " messages, " << t.elements << " elements";
}

// What one device sends and receives in both rounds, and what it joins.
struct Cost {
  Traffic first_out, first_in, second_out, second_in, verdicts_out, verdicts_in;
  std::size_t joined = 0;
};

Cost cost_of(const List& list) {
  Cost cost;
  for (const Instruction& instruction : list) {
    if (const auto* const send = std::get_if<Send>(&instruction.operation)) {
      const Place::Of of = send->place.of;
      (of == Place::Of::held      ? cost.first_out
       : of == Place::Of::verdict ? cost.verdicts_out
                                  : cost.second_out)
          .add(send->place);
    } else if (const auto* const receive = std::get_if<Receive>(&instruction.operation)) {
      const Place::Of of = receive->place.of;
      (of == Place::Of::inbox     ? cost.first_in
       : of == Place::Of::verdict ? cost.verdicts_in
                                  : cost.second_in)
          .add(receive->place);
    } else if (const auto* const join = std::get_if<Join>(&instruction.operation)) {
      cost.joined += join->subtrees.size() * join->range.count;
    }
  }
  return cost;
}

// The formulas of sharded.cpp and star.cpp, with what a device really owns in place of S/k.
void expect_cost(const Setting& setting, std::span<const Shard> shards, const std::vector<List>& lists) {
  const std::size_t k = lists.size(), all = total(setting.sums);
  std::size_t C = 0;
  for (int d = 0; d < setting.devices(); ++d) C += subtrees(setting, d);
  for (int d = 0; d < setting.devices(); ++d) {
    const std::size_t c = subtrees(setting, d);
    std::size_t owned = 0, owned_shards = 0;
    for (const Shard& shard : shards) {
      if (shard.owner != d) continue;
      owned += shard.range.count;
      ++owned_shards;
    }
    const std::size_t others = all - owned, others_shards = shards.size() - owned_shards;
    const Cost cost = cost_of(lists[static_cast<std::size_t>(d)]);
    EXPECT_EQ(cost.first_out, (Traffic{c * others_shards, c * others}));
    EXPECT_EQ(cost.first_in, (Traffic{(C - c) * owned_shards, (C - c) * owned}));
    EXPECT_EQ(cost.joined, C * owned);
    EXPECT_EQ(cost.second_out, (Traffic{(k - 1) * owned_shards, (k - 1) * owned}));
    EXPECT_EQ(cost.second_in, (Traffic{others_shards, others}));
    const std::size_t verdicts = setting.shard_optimizer ? k - 1 : 0;
    EXPECT_EQ(cost.verdicts_out, (Traffic{verdicts, verdicts}));
    EXPECT_EQ(cost.verdicts_in, cost.verdicts_out);
  }
}

void expect_inbox_has_room(const List& list) {
  std::vector<std::pair<std::size_t, std::size_t>> taken;  // [first, last)
  for (const Instruction& instruction : list) {
    const auto* const receive = std::get_if<Receive>(&instruction.operation);
    if (receive == nullptr || receive->place.of != Place::Of::inbox) continue;
    taken.emplace_back(receive->place.slot, receive->place.slot + receive->place.range.count);
  }
  std::ranges::sort(taken);
  for (std::size_t i = 1; i < taken.size(); ++i) ASSERT_LE(taken[i - 1].second, taken[i].first);
  EXPECT_EQ(inbox_floats(list), taken.empty() ? 0 : taken.back().second);
}

void expect_all_checked(const Setting& setting, std::span<const Shard> shards,
                        const std::vector<List>& lists) {
  std::vector<Shard> checked;
  for (int d = 0; d < setting.devices(); ++d) {
    for (const Instruction& instruction : lists[static_cast<std::size_t>(d)]) {
      const auto* const check = std::get_if<Check>(&instruction.operation);
      if (check == nullptr) continue;
      for (const Range& range : check->ranges) checked.push_back({range, d});
    }
  }
  std::ranges::sort(checked, {}, [](const Shard& s) { return std::pair(s.range.sum, s.range.first); });
  EXPECT_EQ(checked,
            setting.shard_optimizer ? std::vector(shards.begin(), shards.end()) : std::vector<Shard>{});
}

void expect_all_of_it(const Setting& setting, const Kind& kind, unsigned interleavings) {
  SCOPED_TRACE(testing::Message() << kind.name << ", " << setting.packs << " packs, " << setting.devices()
                                  << " devices" << (setting.shard_optimizer ? ", sharded optimizer" : ""));
  const std::vector<Shard> shards = kind.shards(setting.sums, setting.devices());
  const std::vector<List> lists = emit(setting, shards);
  ASSERT_EQ(lists.size(), setting.shares.size());
  expect_every_element_owned_once(setting, shards);
  expect_cost(setting, shards, lists);
  expect_all_checked(setting, shards, lists);
  for (const List& list : lists) expect_inbox_has_room(list);
  for (unsigned seed = 0; seed < interleavings; ++seed)
    ASSERT_NO_FATAL_FAILURE(expect_tree_everywhere(setting, shards, lists, seed));
}

void expect_for_all_options(Setting setting, unsigned interleavings) {
  for (const Kind& kind : kinds()) {
    for (const bool shard : {false, true}) {
      setting.shard_optimizer = shard;
      ASSERT_NO_FATAL_FAILURE(expect_all_of_it(setting, kind, interleavings));
    }
  }
}

TEST(Exchange, EveryDeviceGetsThePackTreeUnderAnyInterleaving) {
  for (int packs = 1; packs <= 20; ++packs) {
    for (int devices = 1; devices <= 9; ++devices) {
      ASSERT_NO_FATAL_FAILURE(
          expect_for_all_options(make_setting({1, 10, 1023, 1024, 5000, 40000}, packs, devices), 2));
    }
  }
}

TEST(Exchange, TheOrderOfTheSumsIsFree) {
  for (const std::size_t elements : std::vector<std::size_t>{1, 10, 1023, 1024, 5000, 40000}) {
    ASSERT_NO_FATAL_FAILURE(expect_for_all_options(make_setting({elements}, 7, 3), 5));
    ASSERT_NO_FATAL_FAILURE(
        expect_for_all_options(make_setting({40000, elements, 20000, elements}, 9, 4), 5));
  }
}

TEST(Exchange, LeNetsRealSums) {
  Setting setting = sums_of(compile_training(model::lenet()));
  const std::vector<std::size_t> sums{1, 1280, 10, 102400, 128, 25000, 50, 180, 20};
  EXPECT_EQ(setting.sums, sums);
  EXPECT_EQ(group_sums(sums), (std::vector<Group>{{0, 4}, {4, 9}}));
  for (const int packs : {1, 16}) {
    for (int devices = 1; devices <= 9; ++devices) {
      setting.packs = packs;
      setting.shares = plan::deal_packs({0, packs}, devices);
      ASSERT_NO_FATAL_FAILURE(expect_for_all_options(setting, 3));
    }
  }
}

TEST(Exchange, ShardsOfAKindAreEvenAndNoneIsSmallerThanAMessageIsWorth) {
  const std::vector<std::size_t> sums{1, 1280, 10, 102400, 128, 25000, 50, 180, 20};
  for (int devices = 1; devices <= 16; ++devices) {
    std::vector<std::size_t> load(static_cast<std::size_t>(devices), 0);
    for (const Shard& shard : kind_named("sharded").shards(sums, devices)) {
      load[static_cast<std::size_t>(shard.owner)] += shard.range.count;
      EXPECT_EQ(shard.range.first % 16, 0U) << "two devices share a cache line";
      const std::size_t whole = sums[static_cast<std::size_t>(shard.range.sum)];
      EXPECT_TRUE(shard.range.count == whole || shard.range.count > 1024 - 16) << shard.range.count;
    }
    // the largest sum that is not cut, and a line for each of those that are
    EXPECT_LE(std::ranges::max(load) - std::ranges::min(load), 1280U + 2 * 16) << devices;
  }
  for (const Shard& shard : kind_named("star").shards(sums, 5)) EXPECT_EQ(shard.owner, 0);
}

TEST(Exchange, SixteenPacksOverThreeDevicesAreSevenSubtrees) {
  const Setting setting = make_setting({1}, 16, 3);
  EXPECT_EQ(subtrees(setting, 0), 2U);
  EXPECT_EQ(subtrees(setting, 1), 3U);
  EXPECT_EQ(subtrees(setting, 2), 2U);
}

TEST(Exchange, EqualSharesOfAPowerOfTwoAreOneSubtreeEach) {
  for (int packs = 1; packs <= 128; ++packs) {
    for (int devices = 1; devices <= packs; ++devices) {
      const Setting setting = make_setting({1}, packs, devices);
      std::size_t most = 0;
      for (int d = 0; d < devices; ++d) most = std::max(most, subtrees(setting, d));
      EXPECT_LE(static_cast<double>(most), 2 * std::log2(static_cast<double>(packs) / devices) + 1)
          << packs << " packs, " << devices << " devices";
      if (packs % devices == 0 && std::has_single_bit(static_cast<unsigned>(packs / devices))) {
        EXPECT_EQ(most, 1U) << packs << " packs, " << devices << " devices";
      }
    }
  }
}

TEST(Exchange, SmallSumsGoWithTheirNeighbours) {
  using Groups = std::vector<Group>;
  constexpr std::size_t kEnough = 16 * 1024;
  const auto groups = [](std::vector<std::size_t> sums) { return group_sums(sums); };
  EXPECT_EQ(groups({}), Groups{});
  EXPECT_EQ(groups({1}), (Groups{{0, 1}}));
  EXPECT_EQ(groups({1, 2, 3}), (Groups{{0, 3}}));
  EXPECT_EQ(groups({kEnough, kEnough}), (Groups{{0, 1}, {1, 2}}));
  EXPECT_EQ(groups({kEnough - 1, kEnough}), (Groups{{0, 2}}));
  EXPECT_EQ(groups({kEnough, kEnough - 1}), (Groups{{0, 2}})) << "what is left is too small to go alone";
  EXPECT_EQ(groups({kEnough, 1, kEnough}), (Groups{{0, 1}, {1, 3}}));
  EXPECT_EQ(groups({1, kEnough, 1, 1, kEnough, 1}), (Groups{{0, 2}, {2, 6}}));
  EXPECT_EQ(groups({kEnough, kEnough, kEnough, 5}), (Groups{{0, 1}, {1, 2}, {2, 4}}));
}

TEST(Exchange, KindsHaveNames) {
  EXPECT_EQ(kind_named("star").name, "star");
  EXPECT_EQ(kinds().front().name, "sharded");
  try {
    kind_named("shraded");
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage);
    EXPECT_NE(std::string(error.what()).find("sharded"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace lockstep::program::exchange
