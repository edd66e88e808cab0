#include "plan/device_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace lockstep::plan {
namespace {

using Names = std::vector<std::string>;

TEST(DeviceList, CountsKindsAndNames) {
  EXPECT_EQ(parse_device_list("1"), (Names{"cpu:0"}));
  EXPECT_EQ(parse_device_list("2"), (Names{"cpu:0", "cpu:1"}));
  EXPECT_EQ(parse_device_list("3xcpu"), (Names{"cpu:0", "cpu:1", "cpu:2"}));
  EXPECT_EQ(parse_device_list("cpu"), (Names{"cpu:0"}));
  EXPECT_EQ(parse_device_list("cpu:4,cpu:0"), (Names{"cpu:4", "cpu:0"}));
  EXPECT_EQ(parse_device_list("cpu:4+cpu:0"), (Names{"cpu:4", "cpu:0"}));
  EXPECT_EQ(parse_device_list("2xcpu,cpu:7"), (Names{"cpu:0", "cpu:1", "cpu:7"}));
  EXPECT_EQ(parse_device_list("cpu:007"), (Names{"cpu:7"}));
  EXPECT_EQ(parse_device_list("1024").size(), 1024U);
}

TEST(DeviceList, SettingsAreSeparatedByCommas) {
  EXPECT_EQ(parse_device_settings("1,3xcpu,cpu:0+cpu:5"),
            (std::vector<Names>{{"cpu:0"}, {"cpu:0", "cpu:1", "cpu:2"}, {"cpu:0", "cpu:5"}}));
}

TEST(DeviceList, TheShortestTextGivesTheNamesBack) {
  for (const char* text : {"cpu:0", "cpu:5", "2xcpu", "16xcpu", "cpu:1+cpu:0", "cpu:0+cpu:1+cpu:4"}) {
    EXPECT_EQ(to_text(parse_device_list(text)), text);
  }
}

TEST(DeviceList, RefusesInOneLineWhatMakesNoSense) {
  const std::pair<const char*, const char*> cases[] = {{"0", "no device at all"},
                                                       {"0xcpu", "no device at all"},
                                                       {"", "nothing between"},
                                                       {"cpu:0,", "nothing between"},
                                                       {"cpu:0,cpu:0", "cpu:0 is there twice"},
                                                       {"2,cpu:1", "cpu:1 is there twice"},
                                                       {"gpu:0", "no device of kind 'gpu'"},
                                                       {"2xcpi", "did you mean"},
                                                       {"cpu:", "the number"},
                                                       {"cpu:-1", "the number"},
                                                       {"cpu:1024", "the number"},
                                                       {"1025", "more than 1024"},
                                                       {"-1", "no device of kind"},
                                                       {"2x", "no device of kind"},
                                                       {"1000,cpu:1000+cpu:1001,30xcpu", "twice"}};
  for (const auto& [text, part] : cases) {
    try {
      parse_device_list(text);
      ADD_FAILURE() << text << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::usage);
      EXPECT_THAT(std::string(error.what()), testing::HasSubstr(part)) << text;
      EXPECT_THAT(std::string(error.what()), testing::Not(testing::HasSubstr("\n")));
    }
  }
}

}  // namespace
}  // namespace lockstep::plan
