#include "shares.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace lockstep::app {
namespace {

TEST(Shares, AreNumbersAboveZero) {
  EXPECT_EQ(share_list("--shares", "3,1"), (std::vector<double>{3, 1}));
  EXPECT_EQ(share_list("--shares", "0.5,1e3,7"), (std::vector<double>{0.5, 1000, 7}));
  for (const char* text : {"", "3,", "0,1", "-1,2", "x,1", "nan,1", "inf,1", "1;2", "1e999,1", " 1,2"}) {
    try {
      share_list("--shares", text);
      ADD_FAILURE() << text << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::usage);
      EXPECT_THAT(std::string(error.what()), testing::StartsWith("--shares: expected numbers above 0"));
    }
  }
}

TEST(Shares, AreOneADeviceOrNone) {
  EXPECT_NO_THROW(expect_share_a_device("--shares", {}, 3));
  EXPECT_NO_THROW(expect_share_a_device("--shares", std::vector<double>{1, 2}, 2));
  EXPECT_THROW(expect_share_a_device("--shares", std::vector<double>{1, 2}, 3), Error);
}

}  // namespace
}  // namespace lockstep::app
