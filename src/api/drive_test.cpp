#include "api/drive.h"

#include <future>
#include <thread>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/refusal_for_test.h"

namespace lockstep {
inline namespace api {
namespace {

TEST(Drive, GivesWhatTheWorkGivesAndThrowsWhatItThrows) {
  const std::function<int(Caller&)> seven = [](Caller&) { return 7; };
  EXPECT_EQ(drive_to(seven), 7);
  EXPECT_EQ(refusal_of(Fault::data, [] { drive([](Caller&) { throw Error(Fault::data, "no data"); }); }),
            "no data");
}

TEST(Drive, CallsBackOnTheCallersThreadAndAnswersOnTheWorks) {
  const std::thread::id here = std::this_thread::get_id();
  std::thread::id work, called, answered;
  drive([&](Caller& caller) {
    work = std::this_thread::get_id();
    caller.run([&] {
      called = std::this_thread::get_id();
      caller.ask([&] { answered = std::this_thread::get_id(); });
    });
  });
  EXPECT_EQ(called, here);
  EXPECT_NE(work, here);
  EXPECT_EQ(answered, work);
}

TEST(Drive, WhatACallbackThrowsGoesThroughTheWork) {
  bool unwound = false;
  EXPECT_EQ(refusal_of(Fault::usage,
                       [&] {
                         drive([&](Caller& caller) {
                           struct Unwinds {
                             bool& unwound;
                             ~Unwinds() { unwound = true; }
                           } unwinds{unwound};
                           caller.run([] { throw Error(Fault::usage, "enough"); });
                         });
                       }),
            "enough");
  EXPECT_TRUE(unwound);
}

// The work hangs, the call returns; what the work owns lives until it comes back.
TEST(Drive, ReturnsWhileTheWorkIsStuck) {
  std::promise<void> comes_back, ended;
  struct Owned {
    std::promise<void>& ended;
    ~Owned() { ended.set_value(); }
  };
  std::shared_future<void> back = comes_back.get_future().share();
  EXPECT_EQ(refusal_of(Fault::device,
                       [&] {
                         drive([back, owned = std::make_shared<Owned>(ended)](Caller& caller) {
                           caller.leave("cpu:0 is stuck");
                           back.wait();
                           caller.run([] { FAIL() << "the caller has left"; });
                         });
                       }),
            "cpu:0 is stuck");
  std::future<void> end = ended.get_future();
  EXPECT_EQ(end.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  comes_back.set_value();
  EXPECT_EQ(end.wait_for(std::chrono::seconds(60)), std::future_status::ready);
}

TEST(Drive, ReturnsWhileAnAnswerIsStuck) {
  std::promise<void> comes_back, ended;
  std::shared_future<void> back = comes_back.get_future().share();
  EXPECT_EQ(refusal_of(Fault::device,
                       [&] {
                         drive([back, &ended](Caller& caller) {
                           try {
                             caller.run([&caller, back] {
                               caller.ask([&caller, back] {
                                 caller.leave("cpu:1 is stuck");
                                 back.wait();
                               });
                             });
                           } catch (...) {
                             ended.set_value();
                             throw;
                           }
                         });
                       }),
            "cpu:1 is stuck");
  comes_back.set_value();
  EXPECT_EQ(ended.get_future().wait_for(std::chrono::seconds(60)), std::future_status::ready);
}

}  // namespace
}  // namespace api
}  // namespace lockstep
