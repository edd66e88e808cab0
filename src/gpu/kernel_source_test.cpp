#include "gpu/kernel_source.h"

#include <gtest/gtest.h>

#include "base/decimal_comma_for_test.h"

namespace lockstep::gpu {
namespace {

TEST(KernelSource, IsTheSameInEveryLocale) {
  for (const Style& style : {kLaneStyle, pack_style(8), pack_style(16)}) {
    const std::string expected = kernel_source(style);
    const DecimalComma comma;
    ASSERT_TRUE(comma.is_set());
    EXPECT_TRUE(kernel_source(style) == expected);
  }
}

}  // namespace
}  // namespace lockstep::gpu
