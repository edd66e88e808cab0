#include "base/thread_team.h"

#include <numeric>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/strange_floats_for_test.h"

namespace lockstep {
namespace {

TEST(ThreadTeam, EveryMemberWorksOncePerRun) {
  for (const int threads : {1, 2, 3, 8}) {
    ThreadTeam team({.threads = threads});
    std::vector<int> calls(static_cast<std::size_t>(threads), 0);
    for (int round = 1; round <= 200; ++round) {
      team.run([&](int member) { ++calls[static_cast<std::size_t>(member)]; });
      EXPECT_EQ(std::accumulate(calls.begin(), calls.end(), 0), threads * round);
    }
  }
}

TEST(ThreadTeam, WhatOneWroteAllSeeInTheNextRun) {
  ThreadTeam team({.threads = 4});
  std::vector<int> values(4, 0);
  for (int round = 0; round < 100; ++round) {
    team.run([&](int member) { values[static_cast<std::size_t>(member)] = round + member; });
    team.run([&](int member) {
      EXPECT_EQ(values[static_cast<std::size_t>((member + 1) % 4)], round + (member + 1) % 4);
    });
  }
}

TEST(ThreadTeam, RethrowsTheLowestMembersErrorAndGoesOn) {
  ThreadTeam team({.threads = 3});
  const auto fail = [](int member) {
    if (member > 0) throw Error(Fault::device, "member {}", member);
  };
  try {
    team.run(fail);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "member 1");
  }
  int calls = 0;
  team.run([&](int member) {
    if (member == 0) ++calls;
  });
  EXPECT_EQ(calls, 1);
}

// Threads inherit the environment of the thread that makes them, and keep what their work has set.
TEST(ThreadTeam, WorksInTheLawsFloatingPointEnvironment) {
  const FloatEnvironment::State law = [] {
    const FloatEnvironment environment;
    return FloatEnvironment::current();
  }();
  for (const StrangeFloats& floats : strange_floats()) {
    SCOPED_TRACE(floats.name);
    const InStrangeFloats strange(floats);
    ThreadTeam team({.threads = 3});
    std::vector<FloatEnvironment::State> seen(3);
    const auto look = [&](int member) {
      seen[static_cast<std::size_t>(member)] = FloatEnvironment::current();
      set_floats(floats);  // as a driver might
    };
    for (int round = 0; round < 2; ++round) {
      team.run(look);
      EXPECT_EQ(seen, std::vector(3, law));
      EXPECT_TRUE(strange.unchanged());
    }
    EXPECT_THROW(team.run([](int) { throw Error(Fault::device, "stopped"); }), Error);
    EXPECT_TRUE(strange.unchanged());
  }
}

TEST(ThreadTeam, NamesWhoIsMissing) {
  std::atomic<bool> reported{false};
  std::string message;
  ThreadTeam team({.threads = 3,
                   .name = "cpu:0",
                   .timeout = std::chrono::milliseconds(20),
                   .on_stuck = [&](const std::string& text) {
                     if (!reported) message = text;
                     reported = true;
                   }});
  team.run([&](int member) {
    while (member == 2 && !reported) std::this_thread::yield();
  });
  EXPECT_EQ(message, "cpu:0: no answer from thread 2 of 3 for 0.02 s");
}

}  // namespace
}  // namespace lockstep
