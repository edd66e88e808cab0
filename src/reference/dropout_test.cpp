#include "reference/dropout.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "base/random.h"
#include "base/same_bits_for_test.h"
#include "reference/evaluate.h"

namespace lockstep::reference {
namespace {

const Draws kDraws{.seed = 3, .epoch = 4, .examples = {9, 2}};

TEST(Dropout, KeepsAnElementByTheUpper24BitsOfItsWord) {
  const std::size_t elements = 6;  // an example has 8 words
  const double p = 0.5;
  for (std::size_t example = 0; example < 2; ++example) {
    for (std::size_t element = 0; element < elements; ++element) {
      const std::uint64_t index = kDraws.examples[example] * 8 + element;
      const std::uint32_t word = random_block(3, index / 4, 4, stream_id("dropout:drop"))[index % 4];
      EXPECT_EQ(dropout_keeps({"drop", p, elements}, kDraws, example, element), word >= 0x80000000U);
    }
  }
}

TEST(Dropout, MultipliesWhatIsKeptAndSelectsPlusZero) {
  std::vector<float> x(2000, 3.0f);
  x[7] = std::numeric_limits<float>::infinity();
  const DropoutLayer layer{"drop", 0.25, 1000};
  const std::vector<float> y = dropout(layer, kDraws, x);
  int kept = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const bool keeps = dropout_keeps(layer, kDraws, i / 1000, i % 1000);
    kept += keeps ? 1 : 0;
    EXPECT_THAT(y[i], SameBits(keeps ? x[i] * 0x1.555556p+0f : 0.0f));
  }
  EXPECT_NEAR(kept, 1500, 80);
}

TEST(Dropout, OfNothingKeepsAllAndOfAlmostAllKeepsNothing) {
  const std::vector<float> x{-0.0f, 1, -2, 0x1p-149f, 5, 6, 7, 8};
  EXPECT_THAT(dropout({"drop", 0, 4}, kDraws, x), SameBits(x));
  EXPECT_THAT(dropout({"drop", 1 - 0x1p-30, 4}, kDraws, x), SameBits(std::vector<float>(8, 0.0f)));
}

TEST(Dropout, DependsOnTheExampleNotOnItsPlace) {
  const std::vector<float> x(200, 1.0f);
  const DropoutLayer layer{"drop", 0.5, 100};
  const std::vector<float> here = dropout(layer, kDraws, x);
  const std::vector<float> swapped = dropout(layer, {3, 4, {2, 9}}, x);
  const auto second = static_cast<std::ptrdiff_t>(layer.elements);
  EXPECT_THAT(std::vector(swapped.begin() + second, swapped.end()),
              SameBits(std::vector(here.begin(), here.begin() + second)));
  EXPECT_NE(dropout(layer, {3, 5, {9, 2}}, x), here) << "the next epoch";
  EXPECT_NE(dropout(layer, {4, 4, {9, 2}}, x), here) << "another seed";
  EXPECT_NE(dropout({"other", 0.5, 100}, kDraws, x), here) << "another layer";
}

TEST(Dropout, AnEvaluationKeepsAll) {
  const model::Model dropping{
      "dropping",
      {5},
      {{"linear1", model::Linear{8}}, {"drop", model::Dropout{0.5}}, {"linear2", model::Linear{3}}}};
  model::Model plain = dropping;
  plain.layers.erase(plain.layers.begin() + 1);
  const std::vector<float> images{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  const std::vector<std::uint8_t> labels{1, 2};
  const std::vector<Tensor> parameters = initial_parameters(dropping, 1);
  EXPECT_THAT(evaluate(dropping, parameters, {images, labels, kDraws}).loss,
              SameBits(evaluate(plain, parameters, {images, labels}).loss));
}

}  // namespace
}  // namespace lockstep::reference
