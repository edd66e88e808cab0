#include "base/hex_float.h"

#include <cstdio>
#include <limits>

#include <gtest/gtest.h>

#include "base/decimal_comma_for_test.h"

namespace lockstep {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(HexFloat, IsWrittenAsInC) {
  EXPECT_EQ(hex_float(1.5f), "0x1.8p+0");
  EXPECT_EQ(hex_float(-0x1.607668p-1f), "-0x1.607668p-1");
  EXPECT_EQ(hex_float(0.0f), "0x0p+0");
  EXPECT_EQ(hex_float(-0.0f), "-0x0p+0");
  EXPECT_EQ(hex_float(0x1p-149f), "0x1p-149");
  EXPECT_EQ(hex_float(0x1.fffffep+127f), "0x1.fffffep+127");
  EXPECT_EQ(hex_float(kInfinity), "inf");
  EXPECT_EQ(hex_float(-kInfinity), "-inf");
  EXPECT_EQ(hex_float(-std::numeric_limits<float>::quiet_NaN()), "nan");
}

TEST(HexFloat, DoesNotFollowTheLocale) {
  const DecimalComma comma;
  ASSERT_TRUE(comma.is_set());
  std::string printed(32, '\0');
  printed.resize(static_cast<std::size_t>(std::snprintf(printed.data(), printed.size(), "%a", 1.5)));
  EXPECT_EQ(printed, "0x1,8p+0") << "the locale has no comma: this test shows nothing";
  EXPECT_EQ(hex_float(1.5f), "0x1.8p+0");
}

}  // namespace
}  // namespace lockstep
