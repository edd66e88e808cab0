#include "child_process.h"

#include <chrono>
#include <csignal>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

namespace lockstep::app {
namespace {

struct Seen {
  ChildEnd end;
  std::vector<std::string> lines;
};

Seen run(const std::function<void(ParentLine&)>& work, const ChildOptions& options = {}) {
  Seen seen;
  seen.end = run_in_child(work, options, [&](std::string line) { seen.lines.push_back(std::move(line)); });
  return seen;
}

void sleep_for_a_minute() {
  for (int i = 0; i < 60; ++i) std::this_thread::sleep_for(std::chrono::seconds(1));
}

TEST(ChildProcess, PassesItsLinesOnAndLeavesNothingElseBehind) {
  int touched = 0;
  const Seen seen = run([&](ParentLine& line) {
    touched = 1;
    line.say("one");
    line.say(std::string(100'000, 'x'));
    line.say("");
  });
  EXPECT_EQ(seen.lines, (std::vector<std::string>{"one", std::string(100'000, 'x'), ""}));
  EXPECT_EQ(seen.end.how, ChildEnd::How::ended);
  EXPECT_EQ(seen.end.wrong, "");
  EXPECT_EQ(touched, 0) << "the work had memory of its own";
}

TEST(ChildProcess, WhatItsWorkThrowsIsWhatIsWrong) {
  const Seen seen = run([](ParentLine& line) {
    line.say("before");
    throw Error(Fault::verification, "two\nlines");
  });
  EXPECT_EQ(seen.lines, std::vector<std::string>{"before"});
  EXPECT_EQ(seen.end.fault, Fault::verification);
  EXPECT_EQ(seen.end.wrong, "two lines");
  EXPECT_EQ(run([](ParentLine&) { throw std::runtime_error("other"); }).end.wrong, "other");
}

TEST(ChildProcess, AnyThreadOfItCanEndIt) {
  const Seen seen = run([](ParentLine& line) {
    const std::jthread watch([&] { line.end(Fault::device, "stuck"); });
    sleep_for_a_minute();
  });
  EXPECT_EQ(seen.end.fault, Fault::device);
  EXPECT_EQ(seen.end.wrong, "stuck");
}

TEST(ChildProcess, ACrashIsToldWithItsSignal) {
  const Seen seen = run([](ParentLine& line) {
    line.say("before");
    std::signal(SIGSEGV, SIG_DFL);  // a sanitizer has another
    std::raise(SIGSEGV);
  });
  EXPECT_EQ(seen.lines, std::vector<std::string>{"before"});
  EXPECT_EQ(seen.end.how, ChildEnd::How::ended);
  EXPECT_EQ(seen.end.fault, Fault::device);
  EXPECT_EQ(seen.end.wrong, "its process was ended by signal 11 (Segmentation fault)");
}

TEST(ChildProcess, ALibraryThatExitsIsTold) {
  EXPECT_EQ(run([](ParentLine&) { ::_exit(7); }).end.wrong, "its process ended by itself with exit code 7");
  EXPECT_NE(run([](ParentLine&) { ::_exit(0); }).end.wrong, "") << "it has not said that it is done";
}

TEST(ChildProcess, IsKilledWhenItsTimeIsOver) {
  const Seen seen = run(
      [](ParentLine& line) {
        line.say("before");
        sleep_for_a_minute();
      },
      {.seconds = 0.3});
  EXPECT_EQ(seen.lines, std::vector<std::string>{"before"});
  EXPECT_EQ(seen.end.how, ChildEnd::How::out_of_time);
}

TEST(ChildProcess, IsKilledWhenItsParentIsToStop) {
  int asked = 0;
  const Seen seen = run([](ParentLine&) { sleep_for_a_minute(); }, {.stopped = [&] { return ++asked == 2; }});
  EXPECT_EQ(seen.end.how, ChildEnd::How::stopped);
}

TEST(ChildProcess, SignalsEndItWhateverItsParentDoesAboutThem) {
  struct sigaction ignore {};
  struct sigaction before {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGTERM, &ignore, &before);
  const Seen seen = run([](ParentLine&) { std::raise(SIGTERM); });
  ::sigaction(SIGTERM, &before, nullptr);
  EXPECT_EQ(seen.end.wrong, "its process was ended by signal 15 (Terminated)");
}

}  // namespace
}  // namespace lockstep::app
