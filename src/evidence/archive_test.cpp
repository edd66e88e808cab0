#include "evidence/archive.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace lockstep::evidence {
namespace {

Result result(const std::string& name, bool compares, Outcome outcome, const std::string& why = "") {
  return {.name = name, .title = "title of " + name, .compares = compares, .outcome = outcome, .why = why};
}

std::string summary(const std::deque<Result>& results) {
  return summary_of({.version = "1.2.3", .results = results, .seconds = 600});
}

// The text of a file, by the tar header before it.
std::string text_in(const std::string& archive, const std::string& name) {
  const std::size_t header = archive.find(name + '\0');
  if (header == std::string::npos || header % 512 != 0) return "no " + name;
  return archive.substr(header + 512, std::stoul(archive.substr(header + 124, 11), nullptr, 8));
}

TEST(Summary, CountsWhatIsEqual) {
  EXPECT_EQ(summary({}), "No bits were compared.\n");
  EXPECT_EQ(summary({result("a", true, Outcome::done), result("b", false, Outcome::done),
                     result("c", true, Outcome::done)}),
            "2 of 2 comparisons with the CPU came out equal, bit for bit.\n");
}

TEST(Summary, NamesWhatIsNotEqualAndWhatIsMissing) {
  EXPECT_EQ(summary({result("a", true, Outcome::done), result("b", true, Outcome::differs),
                     result("c", true, Outcome::failed), result("d", false, Outcome::cut),
                     result("e", false, Outcome::left_out), result("f", true, Outcome::left_out)}),
            "1 of 2 comparisons with the CPU came out equal, bit for bit; 1 did NOT.\n"
            "Other bits than the CPU's: title of b.\n"
            "Failed: title of c.\n"
            "Cut, to keep within 600 s: title of d.\n"
            "Left out: title of e; title of f.\n");
}

TEST(Archive, HasAReadMeAndAFileForEachPart) {
  std::deque<Result> results{result("verify-a", true, Outcome::differs, "step 2, \"x\" differs"),
                             result("bench-b", false, Outcome::done)};
  results[0].rows = {R"({"equal":true})", R"({"equal":false,"list":[1,"two"]})"};
  results[0].seconds = 1.5;
  const std::string archive = archive_of({.version = "1.2.3", .results = results});
  EXPECT_TRUE(archive.starts_with(kArchiveBeginning));
  const std::string read_me = text_in(archive, "lockstep-evidence/README.txt");
  for (const char* const words :
       {"Lockstep 1.2.3", "0 of 1 comparisons", "verify-a.json", "bench-b.json", "step 2, \"x\" differs"})
    EXPECT_NE(read_me.find(words), std::string::npos) << words << " in " << read_me;
  const auto json = nlohmann::json::parse(text_in(archive, "lockstep-evidence/verify-a.json"));
  EXPECT_EQ(json, nlohmann::json::parse(R"({"part": "verify-a", "title": "title of verify-a",
            "outcome": "differs", "why": "step 2, \"x\" differs", "seconds": 1.5,
            "rows": [{"equal": true}, {"equal": false, "list": [1, "two"]}]})"));
  EXPECT_TRUE(nlohmann::json::parse(text_in(archive, "lockstep-evidence/bench-b.json"))["why"].is_null());
}

TEST(Archive, HasNoPrivateWordInAnyDepthOfARow) {
  std::deque<Result> results{result("a", false, Outcome::failed, "ann has no /home/ann/x.so")};
  results[0].rows = {R"({"driver":"made by ann","in":[{"deep":"/srv/y"}]})"};
  const std::vector<PrivateWord> words{{"ann", "USER"}};
  const std::string archive = archive_of({.version = "1", .results = results, .words = words});
  for (const char* const secret : {"ann", "/home", "/srv"}) {
    EXPECT_EQ(text_in(archive, "lockstep-evidence/a.json").find(secret), std::string::npos) << secret;
    EXPECT_EQ(text_in(archive, "lockstep-evidence/README.txt").find(secret), std::string::npos) << secret;
  }
  const auto json = nlohmann::json::parse(text_in(archive, "lockstep-evidence/a.json"));
  EXPECT_EQ(json["why"], "USER has no [path]");
  EXPECT_EQ(json["rows"][0]["driver"], "made by USER");
  EXPECT_EQ(json["rows"][0]["in"][0]["deep"], "[path]");
}

TEST(Archive, BytesThatAreNoTextBecomeText) {
  std::deque<Result> results{result("a", false, Outcome::failed, "driver says \xff")};
  const std::string archive = archive_of({.version = "1", .results = results});
  EXPECT_NO_THROW(nlohmann::json::parse(text_in(archive, "lockstep-evidence/a.json")).at("why"));
}

}  // namespace
}  // namespace lockstep::evidence
