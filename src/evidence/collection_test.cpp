#include "evidence/collection.h"

#include <optional>
#include <stdexcept>

#include <gtest/gtest.h>

namespace lockstep::evidence {
namespace {

struct FakeClock {
  double seconds = 100;
};

// Runs parts here; each takes as long as its rows say: "30" is half a minute, of which it gets no more than
// its limit.
RunPart run_on(FakeClock& clock, std::vector<double>& limits) {
  return [&](const Part& part, double seconds, const TakeRow& row) {
    limits.push_back(seconds);
    Ending ending;
    try {
      part.find({.row = [&](const std::string& text) {
        seconds -= std::stod(text);
        if (seconds < 0) throw std::out_of_range("time");
        clock.seconds += std::stod(text);
        row(text);
      }});
    } catch (const Error& error) {
      ending.fault = error.fault();
      ending.wrong = error.what();
    } catch (const std::out_of_range&) {
      ending.in_time = false;
    }
    return ending;
  };
}

Part part(const std::string& name, const std::vector<std::string>& rows, std::optional<Fault> fault = {}) {
  return {.name = name, .title = name, .find = [rows, fault](const Findings& findings) {
            for (const std::string& text : rows) findings.row(text);
            if (fault) throw Error(*fault, "it went wrong");
          }};
}

class CollectionTest : public testing::Test {
 protected:
  FakeClock clock_;
  std::vector<double> limits_;
  std::vector<std::string> said_;
  Collection collection_{
      {.seconds = 100,
       .run = run_on(clock_, limits_),
       .now = [this] { return clock_.seconds; },
       .on_begin = [this](const Part& p,
                          double gone) { said_.push_back(fmt::format("{} after {}", p.title, gone)); },
       .on_end = [this](const Result& r) { said_.emplace_back(name_of(r.outcome)); }}};
};

TEST_F(CollectionTest, KeepsTheRowsOfAPartThatIsDone) {
  const Result& result = collection_.run(part("a", {"3", "4"}));
  EXPECT_EQ(result.outcome, Outcome::done);
  EXPECT_EQ(result.rows, (std::vector<std::string>{"3", "4"}));
  EXPECT_EQ(result.seconds, 7);
  EXPECT_EQ(result.why, "");
}

TEST_F(CollectionTest, APartGetsHalfOfTheTimeThatIsLeft) {
  collection_.run(part("a", {"20"}));
  collection_.run(part("b", {"30", "30"}));
  collection_.run(part("c", {}));
  EXPECT_EQ(limits_, (std::vector<double>{50, 40, 25}));
  const Result& cut = collection_.results()[1];
  EXPECT_EQ(cut.outcome, Outcome::cut);
  EXPECT_EQ(cut.rows, std::vector<std::string>{"30"}) << "what it found before";
  EXPECT_NE(cut.why.find("after 40 s,"), std::string::npos) << cut.why;
}

TEST_F(CollectionTest, WhatGoesWrongIsEvidenceAndStopsNothing) {
  EXPECT_EQ(collection_.run(part("a", {"1"}, Fault::device)).outcome, Outcome::failed);
  EXPECT_EQ(collection_.run(part("b", {"1"}, Fault::verification)).outcome, Outcome::differs);
  EXPECT_EQ(collection_.run(part("c", {"1"})).outcome, Outcome::done);
  EXPECT_EQ(collection_.results()[0].why, "it went wrong");
  EXPECT_EQ(collection_.results()[0].rows.size(), 1U);
}

TEST_F(CollectionTest, WhereNoTimeIsLeftPartsAreLeftOut) {
  clock_.seconds += 98;
  EXPECT_EQ(collection_.run(part("a", {"0"})).outcome, Outcome::done);
  clock_.seconds += 0.5;
  const Result& result = collection_.run(part("b", {"0"}));
  EXPECT_EQ(result.outcome, Outcome::left_out);
  EXPECT_EQ(result.why, "the 100 s for all parts were over");
  EXPECT_EQ(limits_.size(), 1U);
}

TEST_F(CollectionTest, SaysWhatItDoes) {
  clock_.seconds += 2;
  collection_.run(part("a", {"1"}));
  collection_.leave_out(part("b", {}), "not today");
  EXPECT_EQ(said_, (std::vector<std::string>{"a after 2", "done", "left out"}));
  EXPECT_EQ(collection_.results()[1].why, "not today");
}

}  // namespace
}  // namespace lockstep::evidence
