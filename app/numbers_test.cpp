#include "numbers.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/refusal_for_test.h"

namespace lockstep::app {
namespace {

TEST(WholeNumber, TakesBothLimits) {
  EXPECT_EQ(whole_number("--batch", "1", {1, 1000}), 1);
  EXPECT_EQ(whole_number("--batch", "1000", {1, 1000}), 1000);
}

TEST(WholeNumber, RefusesWithNameLimitsAndFinding) {
  for (const std::string text :
       {"0", "1000001", "-1", "", "x", "5x", " 5", "1.5", "1e3", "99999999999999999999"}) {
    EXPECT_EQ(refusal_of(Fault::usage,
                         [&] {
                           whole_number("--batch", text, {1, 1'000'000});
                         }),
              "--batch: expected a whole number from 1 to 1,000,000, found '" + text + "'");
  }
}

TEST(SeedNumber, TakesEverySixtyFourBits) {
  EXPECT_EQ(seed_number("--seed", "0"), 0u);
  EXPECT_EQ(seed_number("--seed", "18446744073709551615"), std::numeric_limits<std::uint64_t>::max());
  for (const std::string text : {"18446744073709551616", "-1", "0x1", ""}) {
    EXPECT_EQ(refusal_of(Fault::usage, [&] { seed_number("--seed", text); }),
              "--seed: expected a whole number from 0 to 2^64 - 1, found '" + text + "'");
  }
}

TEST(PositiveNumber, RoundsTheTextOnce) {
  EXPECT_EQ(positive_number("--lr", "0.2"), 0.2f);
  EXPECT_EQ(positive_number("--lr", "1e-45"), std::numeric_limits<float>::denorm_min());
  // just above the middle of two floats: by way of double it would become the lower one
  EXPECT_EQ(positive_number("--lr", "1.00000005960464477540"), 1.00000011920928955078125f);
}

TEST(PositiveNumber, RefusesWhatNoRateCanBe) {
  for (const std::string text : {"0", "-0.1", "nan", "inf", "1e39", "1e-60", "", "0.2x"}) {
    EXPECT_EQ(refusal_of(Fault::usage, [&] { positive_number("--lr", text); }),
              "--lr: expected a finite number above 0, found '" + text + "'");
  }
}

TEST(Number, IsAnyThatAnOptionsLimitsMayRefuse) {
  EXPECT_EQ(number("--eps", "1e-8"), 1e-8);
  EXPECT_EQ(number("--eps", "-1"), -1);
  EXPECT_TRUE(std::isnan(number("--eps", "nan")));
  for (const char* text : {"", "x", "1e-8x", " 1"})
    EXPECT_EQ(refusal_of(Fault::usage, [&] { number("--eps", text); }),
              fmt::format("--eps: expected a number, found '{}'", text));
}

TEST(KnownName, SaysTheNearest) {
  const std::vector<std::string> orders{"pack", "layer"};
  EXPECT_EQ(known_name("--order", "layer", orders), "layer");
  EXPECT_EQ(refusal_of(Fault::usage, [&] { known_name("--order", "pak", orders); }),
            "--order: there is no 'pak'; did you mean 'pack'?");
}

TEST(GivenPath, IsNotEmpty) {
  EXPECT_EQ(given_path("--out", "runs/a"), std::filesystem::path("runs/a"));
  EXPECT_EQ(refusal_of(Fault::usage, [] { given_path("--out", ""); }), "--out: expected a path, found ''");
}

TEST(ExpectWithin, HoldsNumbersToTheSameLimits) {
  EXPECT_NO_THROW(expect_within("job.batch", 1, {1, 2}));
  EXPECT_EQ(refusal_of(Fault::usage,
                       [] {
                         expect_within("job.batch", 3, {1, 2});
                       }),
            "job.batch: expected a whole number from 1 to 2, found '3'");
  EXPECT_NO_THROW(expect_positive("job.lr", 0.1f));
  EXPECT_EQ(refusal_of(Fault::usage, [] { expect_positive("job.lr", 0.0f); }),
            "job.lr: expected a finite number above 0, found '0'");
}

}  // namespace
}  // namespace lockstep::app
