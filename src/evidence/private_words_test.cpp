#include "evidence/private_words.h"

#include <vector>

#include <gtest/gtest.h>

namespace lockstep::evidence {
namespace {

std::string sent(const std::string& text) {
  const std::vector<PrivateWord> words{{"ann", "USER"}, {"box.example", "HOST"}, {"", "NOBODY"}};
  return without_private_words(text, words);
}

TEST(PrivateWords, AreReplacedWhereTheyStandByThemselves) {
  EXPECT_EQ(sent("ann"), "USER");
  EXPECT_EQ(sent("by ann, ann's on box.example"), "by USER, USER's on HOST");
  for (const char* const kept : {"cannot", "ann_1", "annual", "Ann", "box-example", ""})
    EXPECT_EQ(sent(kept), kept);
}

TEST(PrivateWords, PathsGoButThoseOfTheSystem) {
  EXPECT_EQ(sent("/home/ann/x.so: cannot open"), "[path]: cannot open");
  EXPECT_EQ(sent("it is in /data/secret. Then '/tmp/a b'"), "it is in [path]. Then '[path] b'");
  EXPECT_EQ(sent("LIB=/srv/x,/mnt/y"), "LIB=[path],[path]");
  EXPECT_EQ(sent("/usr/lib/x86_64-linux-gnu/libcuda.so.1 and /opt/rocm"),
            "/usr/lib/x86_64-linux-gnu/libcuda.so.1 and /opt/rocm");
  EXPECT_EQ(sent("/usr/../home/secret"), "[path]");
  EXPECT_EQ(sent("/opt/ann/lib"), "/opt/USER/lib");
}

TEST(PrivateWords, ASlashIsNoPath) {
  for (const char* const kept : {"GFLOP/s", "and/or", "a / b", "1/2", "https://example.org/x", "/"})
    EXPECT_EQ(sent(kept), kept);
}

}  // namespace
}  // namespace lockstep::evidence
