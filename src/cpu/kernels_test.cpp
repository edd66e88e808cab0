#include "cpu/kernels.h"

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "arithmetic/tree.h"
#include "base/aligned_buffer.h"
#include "base/error.h"
#include "base/random.h"
#include "base/same_bits_for_test.h"
#include "reference/add.h"
#include "reference/dropout.h"
#include "reference/relu.h"

namespace lockstep::cpu {
namespace {

std::uint32_t bits(float v) { return std::bit_cast<std::uint32_t>(v); }

// Runs a check on every row this processor has.
template <class Check>
void for_each_row(Check check) {
  for (const Kernels* row : usable_kernels()) {
    SCOPED_TRACE(std::string(row->name));
    check(*row);
  }
}

TEST(Kernels, ThisProcessorHasARow) { EXPECT_FALSE(usable_kernels().empty()); }

TEST(Kernels, AreChosenByName) {
  EXPECT_EQ(&choose_kernels(""), usable_kernels().front());
  for (const Kernels* row : usable_kernels()) EXPECT_EQ(&choose_kernels(row->name), row);
  try {
    choose_kernels("sse4");  // near to no name, so that all are listed
    FAIL() << "an unknown name was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage);
    EXPECT_NE(std::string(error.what()).find(usable_kernels().front()->name), std::string::npos);
  }
}

TEST(Kernels, EveryByteBecomesTheCorrectlyRoundedQuotient) {
  for_each_row([](const Kernels& row) {
    for (const int pixels : {1, 16, 19}) {
      std::vector<std::vector<std::uint8_t>> pictures;
      std::vector<const std::uint8_t*> examples;
      for (int e = 0; e < kPack; ++e) {
        std::vector<std::uint8_t>& picture = pictures.emplace_back();
        for (int p = 0; p < pixels; ++p) picture.push_back(static_cast<std::uint8_t>(e * 16 + p));
      }
      for (const auto& picture : pictures) examples.push_back(picture.data());
      AlignedBuffer<float> to(static_cast<std::size_t>(pixels) * kPack);
      row.load_pixels(examples.data(), pixels, to.data());
      for (std::size_t p = 0; p < static_cast<std::size_t>(pixels); ++p) {
        for (std::size_t e = 0; e < kPack; ++e) {
          EXPECT_EQ(bits(to[p * kPack + e]), bits(static_cast<float>(pictures[e][p]) / 255.0f));
        }
      }
    }
  });
}

// [example][element] of 16 lanes, of which `present` hold an example.
std::vector<float> dropped_by(const Kernels& row, DropoutJob job, std::vector<float>& lanes) {
  AlignedBuffer<float> numbers(lanes.size());
  std::ranges::copy(lanes, numbers.span().begin());
  job.x = job.y = numbers.data();
  row.dropout(job);
  return {numbers.span().begin(), numbers.span().end()};
}

// The words of large datasets: counters of more than 32 bits, and a block that begins below 2^32 for one
// lane.
TEST(Kernels, DropoutIsTheTwinsForEveryCounter) {
  const std::uint64_t seed = 0x0123456789abcdef;
  for_each_row([&](const Kernels& row) {
    for (const auto& [channels, rows, columns, whole_rows, whole_columns] :
         {std::array{1, 1, 1, 1, 1}, {3, 5, 7, 5, 7}, {2, 4, 3, 5, 6}, {500, 1, 1, 1, 1}}) {
      for (const int present : {16, 5}) {
        const std::size_t whole = static_cast<std::size_t>(channels) * static_cast<std::size_t>(whole_rows) *
                                  static_cast<std::size_t>(whole_columns);
        reference::Draws draws{.seed = seed, .epoch = 77};
        for (std::uint32_t e = 0; e < kPack; ++e)
          draws.examples.push_back(e % 3 == 0 ? e : e % 3 == 1 ? ~e : (1U << 30) / 125 * 4 + e);
        for (const double p : {0.0, 0.3, 0.5, 0x1p-30, 1 - 0x1p-30}) {
          const reference::DropoutLayer layer{"layer", p, whole};
          std::vector<float> lanes, expected;
          for (int c = 0; c < channels; ++c) {
            for (int y = 0; y < rows; ++y) {
              for (int x = 0; x < columns; ++x) {
                for (std::size_t e = 0; e < kPack; ++e) {
                  lanes.push_back(1.25f + static_cast<float>(lanes.size()));
                  const int element = (c * whole_rows + y) * whole_columns + x;
                  const bool kept = static_cast<int>(e) < present &&
                                    dropout_keeps(layer, draws, e, static_cast<std::size_t>(element));
                  expected.push_back(kept ? lanes.back() * static_cast<float>(1 / (1 - p)) : 0.0f);
                }
              }
            }
          }
          lanes = dropped_by(row,
                             {.x = nullptr,
                              .y = nullptr,
                              .channels = channels,
                              .rows = rows,
                              .columns = columns,
                              .whole_rows = whole_rows,
                              .whole_columns = whole_columns,
                              .examples = draws.examples.data(),
                              .present = present,
                              .seed = seed,
                              .epoch = 77,
                              .stream = stream_id("dropout:layer"),
                              .threshold = static_cast<std::uint32_t>(std::ceil(p * 0x1p24)),
                              .scale = static_cast<float>(1 / (1 - p))},
                             lanes);
          EXPECT_THAT(lanes, SameBits(expected)) << "p " << p << ", " << present << " lanes";
        }
      }
    }
  });
}

TEST(Kernels, LaneTreeOfAStageIsTheScalarTree) {
  for_each_row([](const Kernels& row) {
    std::mt19937 random(7);
    std::uniform_real_distribution<float> uniform(-1, 1);
    AlignedBuffer<float> stage(kStageElements * kPack), values(kStageElements);
    for (float& v : stage.span()) v = uniform(random);
    for (const int elements : {1, 7, 16, 25, 32}) {
      std::vector<float> to(16 * 40, -2.0f);
      row.lane_tree({stage.data(), 16, elements, values.data(), to.data(), 40});
      for (int e = 0; e < 16 * 40; ++e) {
        const int channel = e / 40, element = e % 40, place = channel * elements + element;
        std::array<float, kPack> lanes{};
        for (int lane = 0; lane < kPack; ++lane) {
          lanes[static_cast<std::size_t>(lane)] =
              stage[static_cast<std::size_t>(place % kStageElements * kPack + lane)];
        }
        const float expected = element < elements ? arithmetic::lane_tree(lanes) : -2.0f;
        ASSERT_EQ(bits(to[static_cast<std::size_t>(e)]), bits(expected)) << elements << " elements, " << e;
      }
    }
  });
}

TEST(Kernels, JoinsInOrderAtEveryLengthAndOffset) {
  for_each_row([](const Kernels& row) {
    std::vector<float> values(70), first(100), second(100), to(100, -1.0f);
    for (std::size_t i = 0; i < 100; ++i) {
      first[i] = std::ldexp(1.0f, static_cast<int>(i % 30));
      second[i] = -first[i];
    }
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = 0x1.8p-1f / static_cast<float>(i + 1);
    JoinTarget target;
    target.joins = 2;
    target.sums = {first.data(), second.data()};
    target.destination = to.data();
    for (const std::size_t count : {1U, 7U, 16U, 33U, 70U}) {
      std::ranges::fill(to, -1.0f);
      row.join_row(values.data(), 9, count, target);
      for (std::size_t i = 0; i < 100; ++i) {
        const bool inside = i >= 9 && i < 9 + count;
        EXPECT_THAT(to[i], SameBits(inside ? second[i] + (first[i] + values[i - 9]) : -1.0f)) << i;
      }
    }
  });
}

TEST(Kernels, FiniteMeansNoNanAndNoInfinityAnywhere) {
  for_each_row([](const Kernels& row) {
    std::vector<float> values(37, 3e38f);
    EXPECT_TRUE(row.all_finite(values.data(), values.size()));
    for (const float bad : {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::quiet_NaN()}) {
      for (std::size_t i = 0; i < values.size(); ++i) {
        std::vector<float> broken = values;
        broken[i] = bad;
        EXPECT_FALSE(row.all_finite(broken.data(), broken.size())) << i;
      }
    }
  });
}

TEST(Kernels, SumAddsEveryElementAlsoInPlace) {
  for_each_row([](const Kernels& row) {
    std::mt19937 random(5);
    std::uniform_real_distribution<float> uniform(-1, 1);
    AlignedBuffer<float> a(48), b(48), to(48);
    for (std::size_t i = 0; i < 48; ++i) {
      a[i] = uniform(random);
      b[i] = std::ldexp(uniform(random), static_cast<int>(i % 20) - 10);
    }
    a[3] = b[3] = -0.0f;
    a[4] = b[4] = std::numeric_limits<float>::denorm_min();
    a[5] = std::numeric_limits<float>::quiet_NaN();
    b[6] = -a[6];
    const std::vector<float> expected = reference::add(a.span(), b.span());
    const auto copy_of = [](const AlignedBuffer<float>& from) {
      AlignedBuffer<float> copy(from.size());
      std::copy_n(from.data(), from.size(), copy.data());
      return copy;
    };
    const auto values = [](const AlignedBuffer<float>& of) {
      return std::vector<float>(of.data(), of.data() + 48);
    };
    row.sum(a.data(), b.data(), to.data(), 48);
    EXPECT_THAT(values(to), SameBits(expected));
    const std::vector<float> behind_relu = reference::relu_forward(expected);
    row.sum_relu(a.data(), b.data(), to.data(), 48);
    EXPECT_THAT(values(to), SameBits(behind_relu));
    to = copy_of(a);
    row.sum_relu(to.data(), b.data(), to.data(), 48);
    EXPECT_THAT(values(to), SameBits(behind_relu));
    to = copy_of(b);
    row.sum_relu(a.data(), to.data(), to.data(), 48);
    EXPECT_THAT(values(to), SameBits(behind_relu));
    row.sum(a.data(), b.data(), a.data(), 48);
    EXPECT_THAT(values(a), SameBits(expected));
    row.sum(a.data(), a.data(), a.data(), 48);
    EXPECT_THAT(values(a), SameBits(reference::add(expected, expected)));
  });
}

TEST(Kernels, ReluKeepsNanAndMakesEveryZeroPositive) {
  for_each_row([](const Kernels& row) {
    AlignedBuffer<float> x(16), y(16);
    x[0] = -0.0f;
    x[1] = std::numeric_limits<float>::quiet_NaN();
    x[2] = -1;
    x[3] = 2;
    x[4] = -std::numeric_limits<float>::denorm_min();
    x[5] = std::numeric_limits<float>::denorm_min();
    row.relu(x.data(), y.data(), 16);
    EXPECT_EQ(bits(y[0]), 0U);
    EXPECT_TRUE(std::isnan(y[1]));
    EXPECT_EQ(bits(y[2]), 0U);
    EXPECT_THAT(y[3], SameBits(2.0f));
    EXPECT_EQ(bits(y[4]), 0U);
    EXPECT_EQ(bits(y[5]), 1U) << "denormals are kept";
  });
}

TEST(Kernels, BackThroughAReluGradientsMeetAlsoInPlace) {
  for_each_row([](const Kernels& row) {
    std::mt19937 random(17);
    std::uniform_real_distribution<float> uniform(-1, 1);
    std::vector<float> a(48), b(48), y(48);
    for (std::size_t i = 0; i < 48; ++i) {
      a[i] = uniform(random);
      b[i] = uniform(random);
      y[i] = std::max(0.0f, uniform(random));
    }
    a[0] = b[0] = -0.0f;
    y[0] = y[1] = std::numeric_limits<float>::denorm_min();
    a[2] = std::numeric_limits<float>::infinity();
    y[2] = 0;
    y[3] = std::numeric_limits<float>::quiet_NaN();
    const auto aligned = [](const std::vector<float>& values) {
      AlignedBuffer<float> to(values.size());
      std::ranges::copy(values, to.data());
      return to;
    };
    const auto values = [](const AlignedBuffer<float>& of) {
      return std::vector<float>(of.data(), of.data() + 48);
    };
    const AlignedBuffer<float> of_y = aligned(y);
    AlignedBuffer<float> left = aligned(a), right = aligned(b), dx(48);
    const std::vector<float> expected = reference::relu_gradient(y, reference::add(a, b));
    row.relu_gradient_of_sum(left.data(), right.data(), of_y.data(), dx.data(), 48);
    EXPECT_THAT(values(dx), SameBits(expected));
    row.relu_gradient_of_sum(left.data(), right.data(), of_y.data(), left.data(), 48);
    EXPECT_THAT(values(left), SameBits(expected));
    left = aligned(a);
    row.relu_gradient_of_sum(left.data(), right.data(), of_y.data(), right.data(), 48);
    EXPECT_THAT(values(right), SameBits(expected));
    row.relu_gradient_of_sum(left.data(), left.data(), of_y.data(), left.data(), 48);
    EXPECT_THAT(values(left), SameBits(reference::relu_gradient(y, reference::add(a, a))));
  });
}

}  // namespace
}  // namespace lockstep::cpu
