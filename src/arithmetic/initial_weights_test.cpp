#include "arithmetic/initial_weights.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "arithmetic/normal.h"
#include "base/random.h"
#include "base/same_bits_for_test.h"

namespace lockstep::arithmetic {
namespace {

std::vector<float> initial(std::size_t count, std::string_view name, std::uint64_t seed) {
  std::vector<float> values(count);
  fill_initial(values, name, seed, 0.01f);
  return values;
}

TEST(InitialWeights, FollowTheStreamOfTheirName) {
  const std::vector<float> values = initial(7, "conv1.weight", 5);
  const auto block = random_block(5, 1, 0, stream_id("init:conv1.weight"));
  EXPECT_THAT(values[4], SameBits(static_cast<float>(normal_of_word(block[0])) * 0.01f));
  EXPECT_THAT(values[6], SameBits(static_cast<float>(normal_of_word(block[2])) * 0.01f));
}

TEST(InitialWeights, DoNotDependOnTheCount) {
  const std::vector<float> few = initial(5, "conv1.weight", 5);
  const std::vector<float> many = initial(100, "conv1.weight", 5);
  EXPECT_THAT(std::vector<float>(many.begin(), many.begin() + 5), SameBits(few));
}

TEST(InitialWeights, DifferBySeedAndName) {
  EXPECT_NE(initial(8, "conv1.weight", 5), initial(8, "conv1.weight", 6));
  EXPECT_NE(initial(8, "conv1.weight", 5), initial(8, "conv2.weight", 5));
}

TEST(InitialWeights, HaveTheMeanAndSpreadAskedFor) {
  constexpr std::size_t count = 100'000;
  double sum = 0, squares = 0;
  for (const float value : initial(count, "linear1.weight", 1)) {
    sum += value;
    squares += static_cast<double>(value) * value;
  }
  EXPECT_NEAR(sum / count, 0.0, 1e-4);  // three standard errors
  EXPECT_NEAR(std::sqrt(squares / count), 0.01, 1e-4);
}

TEST(InitialWeights, UniformOnesFollowTheStreamToo) {
  std::vector<float> values(7);
  fill_uniform(values, "conv1.weight", 5, 0.3f);
  const auto block = random_block(5, 1, 0, stream_id("init:conv1.weight"));
  const float u = static_cast<float>(block[2] >> 8) * 0x1p-24f;
  EXPECT_THAT(values[6], SameBits(std::fma(2 * u, 0.3f, -0.3f)));
}

}  // namespace
}  // namespace lockstep::arithmetic
