// What the check of the order finds: each test breaks programs that are right in one way.
#include "program/order.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/refusal_for_test.h"
#include "model/zoo.h"
#include "program/checked_for_test.h"
#include "program/compile.h"

namespace lockstep::program {
namespace {

std::vector<Program> right_programs(bool shard = false) {
  return checked_data_parallel(compile_training(model::mlp()), {.ranks = 3, .shard_optimizer = shard}, 16);
}

std::string found_in(const std::vector<Program>& programs) {
  return refusal_of(Fault::ours, [&] { check_order(programs); });
}

template <class Operation>
std::vector<std::size_t> places_of(const Program& program) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < program.exchange.size(); ++i) {
    if (std::holds_alternative<Operation>(program.exchange[i].operation)) places.push_back(i);
  }
  return places;
}

TEST(Order, OfDataParallelismIsRight) {
  EXPECT_NO_THROW(check_order(right_programs(false)));
  EXPECT_NO_THROW(check_order(right_programs(true)));
}

TEST(Order, AMissingMessageIsFound) {
  for (const bool shard : {false, true}) {
    const std::vector<Program> whole = right_programs(shard);
    for (const std::size_t place : places_of<Send>(whole[1])) {
      std::vector<Program> programs = whole;
      programs[1].exchange.erase(programs[1].exchange.begin() + static_cast<std::ptrdiff_t>(place));
      EXPECT_NE(found_in(programs).find("rank 1"), std::string::npos);
    }
  }
}

TEST(Order, AMessageOfAnotherSizeIsFound) {
  std::vector<Program> programs = right_programs();
  std::get<Send>(programs[1].exchange[places_of<Send>(programs[1]).front()].operation).region.count += 1;
  EXPECT_NE(found_in(programs).find("bytes"), std::string::npos);
}

// Whatever is sent, joined or received too early is an access that nothing orders.
TEST(Order, EveryWaitOfTheExchangeIsNeeded) {
  for (const bool shard : {false, true}) {
    const std::vector<Program> whole = right_programs(shard);
    int tried = 0;
    for (std::size_t i = 0; i < whole[1].exchange.size(); ++i) {
      if (whole[1].exchange[i].waits.empty()) continue;
      std::vector<Program> programs = whole;
      // The list is in order: what comes before may wait for the same event.
      for (std::size_t before = 0; before <= i; ++before) programs[1].exchange[before].waits.clear();
      EXPECT_NE(found_in(programs), "") << i;
      ++tried;
    }
    EXPECT_GT(tried, 5);
  }
}

TEST(Order, EveryWaitOfASegmentIsNeeded) {
  for (const bool shard : {false, true}) {
    const std::vector<Program> whole = right_programs(shard);
    for (std::size_t s = 0; s < whole[2].segments.size(); ++s) {
      if (whole[2].segments[s].waits.empty()) continue;
      std::vector<Program> programs = whole;
      programs[2].segments[s].waits.clear();
      EXPECT_NE(found_in(programs).find("nothing orders two accesses"), std::string::npos)
          << whole[2].segments[s].name;
    }
  }
}

TEST(Order, RanksThatWaitForEachOtherAreFound) {
  std::vector<Program> programs = right_programs();
  // Each sends its first message only when it has received its first.
  for (const int rank : {0, 1}) {
    Program& program = programs[static_cast<std::size_t>(rank)];
    const EventId arrived = program.exchange[places_of<Receive>(program).front()].signals.front();
    program.exchange[places_of<Send>(program).front()].waits.push_back(arrived);
    std::ranges::stable_partition(program.exchange, [](const ExchangeInstruction& i) {
      return std::holds_alternative<Receive>(i.operation);
    });
  }
  EXPECT_NE(found_in(programs).find("wait for each other for ever"), std::string::npos);
}

TEST(Order, AnEventIsSignalledOnce) {
  std::vector<Program> programs = right_programs();
  programs[0].events += 1;
  EXPECT_NE(found_in(programs).find("is signalled by 0 instructions"), std::string::npos);
  programs = right_programs();
  packs_of(programs[0]).instructions.front().signals.push_back(0);
  EXPECT_NE(found_in(programs).find("is signalled by 2 instructions"), std::string::npos);
}

// A rank that takes back what it sent before the receiver has it.
TEST(Order, WhatWasSentMayNotBeOverwrittenBeforeItIsTaken) {
  std::vector<Program> programs(2);
  for (Program& program : programs) {
    program.packs = 1;
    program.buffers = {{"a", Role::gradient, 4}, {"b", Role::gradient, 4}, {"inbox", Role::inbox, 4}};
  }
  programs[0].exchange = {{Send{1, {0, 0, 4}}}, {Receive{1, {0, 0, 4}}}};
  programs[1].exchange = {{Receive{0, {0, 0, 4}}}, {Send{0, {1, 0, 4}}}};
  EXPECT_NE(found_in(programs).find("nothing orders two accesses to a"), std::string::npos);
  programs[0].events = 1;
  programs[0].exchange[0].signals = {0};  // taken
  programs[0].exchange[1].waits = {0};
  EXPECT_NO_THROW(check_order(programs));
}

}  // namespace
}  // namespace lockstep::program
