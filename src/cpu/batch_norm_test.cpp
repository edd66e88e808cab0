// Every row of batch norm kernels has the bits of plain loops: all lanes present, some, or one, with NaN in
// the others, and numbers that are unusual.
#include <algorithm>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "base/aligned_buffer.h"
#include "base/same_bits_for_test.h"
#include "cpu/batch_norm_for_test.h"
#include "cpu/layers_for_test.h"

namespace lockstep::cpu {
namespace {

AlignedBuffer<float> aligned(const Tensor& numbers) {
  AlignedBuffer<float> to(numbers.size());
  std::ranges::copy(numbers, to.data());
  return to;
}

Tensor values_of(const AlignedBuffer<float>& numbers) {
  return {numbers.data(), numbers.data() + numbers.size()};
}

// Zeros of both signs and denormals in every channel; in some, infinities and the largest numbers.
void make_unusual(Tensor& numbers, std::size_t plane, std::mt19937& random) {
  using Limits = std::numeric_limits<float>;
  const std::array<float, 4> mild{-0.0f, 0.0f, Limits::denorm_min(), -Limits::min() / 3};
  const std::array<float, 4> wild{Limits::infinity(), -Limits::infinity(), Limits::max(), -Limits::max()};
  for (std::size_t start = 0; start < numbers.size(); start += plane) {
    for (const float value : mild) numbers[start + random() % plane] = value;
    if (start / plane % 5 == 3) numbers[start + random() % plane] = wild[random() % wild.size()];
  }
}

// A pack, and all that the kernels make of it.
struct NormCase {
  NormCase(int channel_count, int position_count, int present_lanes)
      : channels(channel_count), positions(position_count), present(present_lanes) {
    std::mt19937 random(static_cast<unsigned>(channels * 1000 + positions + present));
    const auto count = static_cast<std::size_t>(channels);
    const std::size_t plane = plain.positions * PlainNorm::kLanes;
    x = random_numbers(count * plane, random);
    for (float& value : x) value = 3 * value + 1;
    dy = random_numbers(count * plane, random);
    make_unusual(x, plane, random);
    make_unusual(dy, plane, random);
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (i % PlainNorm::kLanes >= plain.present) x[i] = dy[i] = std::numeric_limits<float>::quiet_NaN();
    }
    triples = plain.triples(x);
    gamma = random_numbers(count, random);
    beta = random_numbers(count, random);
    // Of ordinary numbers, so that a wild channel gives something else than NaN, too.
    Tensor means = random_numbers(count, random), variances = random_numbers(count, random);
    for (float& value : variances) value = value * value;
    coefficients = plain_coefficients(means, variances, gamma, beta, 1e-5f);
    factors = random_numbers(3 * count, random);
    if (channels > 1) {  // sums that end at -0 where x is below the mean and a relu blocks dy
      factors[count - 1] = -1;
      factors[2 * count - 1] = 0;
      factors[3 * count - 1] = -0.0f;
    }
  }

  NormBackward backward(const AlignedBuffer<float>& of_dy, const AlignedBuffer<float>& of_x,
                        bool relu) const {
    return {of_dy.data(), of_x.data(), coefficients.data(), channels, positions, present, relu};
  }

  const int channels, positions, present;
  const PlainNorm plain{static_cast<std::size_t>(channels), static_cast<std::size_t>(positions),
                        static_cast<std::size_t>(present)};
  Tensor x, dy, triples, gamma, beta, coefficients, factors;
};

template <class Check>
void for_each_norm_case(Check check) {
  for (const Kernels* row : usable_kernels()) {
    for (const int channels : {1, 3, 16, 17, 64}) {
      for (const int positions : {1, 6, 49, 784}) {
        for (int present = positions < 100 ? 1 : 5; present <= kPack; present += positions < 100 ? 1 : 11) {
          SCOPED_TRACE(fmt::format("{}, {} channels, {} positions, {} examples", row->name, channels,
                                   positions, present));
          check(*row, NormCase(channels, positions, present));
          if (testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST(BatchNormKernels, StatisticsOfAPack) {
  for_each_norm_case([](const Kernels& row, const NormCase& c) {
    const AlignedBuffer<float> x = aligned(c.x);
    Tensor found(c.triples.size());
    row.norm_statistics({x.data(), c.channels, c.positions, c.present, found.data()});
    ASSERT_THAT(found, SameBits(c.triples));
  });
}

TEST(BatchNormKernels, Forward) {
  for_each_norm_case([](const Kernels& row, const NormCase& c) {
    const AlignedBuffer<float> x = aligned(c.x);
    AlignedBuffer<float> y(c.x.size());
    for (const bool relu : {false, true}) {
      row.norm_forward({x.data(), c.coefficients.data(), nullptr, y.data(), c.channels, c.positions, relu});
      ASSERT_THAT(values_of(y), SameBits(c.plain.forward(c.x, c.coefficients, relu)));
    }
  });
}

// y lies over x, then over the addend; at last x is the addend, too.
TEST(BatchNormKernels, ForwardInAResidualSum) {
  for_each_norm_case([](const Kernels& row, const NormCase& c) {
    for (const bool relu : {false, true}) {
      const Tensor expected = c.plain.forward(c.x, c.coefficients, relu, c.dy);
      for (const bool over_x : {true, false}) {
        AlignedBuffer<float> x = aligned(c.x), addend = aligned(c.dy);
        AlignedBuffer<float>& y = over_x ? x : addend;
        row.norm_forward(
            {x.data(), c.coefficients.data(), addend.data(), y.data(), c.channels, c.positions, relu});
        ASSERT_THAT(values_of(y), SameBits(expected));
      }
      AlignedBuffer<float> all = aligned(c.x);
      row.norm_forward(
          {all.data(), c.coefficients.data(), all.data(), all.data(), c.channels, c.positions, relu});
      ASSERT_THAT(values_of(all), SameBits(c.plain.forward(c.x, c.coefficients, relu, c.x)));
    }
  });
}

TEST(BatchNormKernels, SumsOfAPack) {
  for_each_norm_case([](const Kernels& row, const NormCase& c) {
    const AlignedBuffer<float> x = aligned(c.x), dy = aligned(c.dy);
    for (const bool relu : {false, true}) {
      const Tensor y = relu ? c.plain.forward(c.x, c.coefficients, true) : Tensor{};
      Tensor found(2 * c.gamma.size());
      row.norm_sums(c.backward(dy, x, relu), found.data());
      ASSERT_THAT(found, SameBits(c.plain.sums(c.dy, c.x, y, c.coefficients)));
    }
  });
}

TEST(BatchNormKernels, InputGradientAlsoInPlace) {
  for_each_norm_case([](const Kernels& row, const NormCase& c) {
    const AlignedBuffer<float> x = aligned(c.x);
    for (const bool relu : {false, true}) {
      const Tensor y = relu ? c.plain.forward(c.x, c.coefficients, true) : Tensor{};
      const Tensor expected = c.plain.input_gradient(c.dy, c.x, y, c.coefficients, c.factors);
      AlignedBuffer<float> dy = aligned(c.dy), dx(c.dy.size());
      row.norm_input_gradient(c.backward(dy, x, relu), c.factors.data(), dx.data());
      ASSERT_THAT(values_of(dx), SameBits(expected));
      row.norm_input_gradient(c.backward(dy, x, relu), c.factors.data(), dy.data());
      ASSERT_THAT(values_of(dy), SameBits(expected));
    }
  });
}

// Channels [first, first + count) of 37, as a thread takes them; the others stay as they are.
TEST(BatchNormKernels, NumbersOfAGroup) {
  constexpr std::size_t kAll = 37;
  constexpr float kUntouched = -77, kEps = 1e-5f, kMomentum = 0.1f;
  std::mt19937 random(3);
  const Tensor gamma = random_numbers(kAll, random), beta = random_numbers(kAll, random);
  Tensor triples = random_numbers(3 * kAll, random);
  for (std::size_t c = 0; c < kAll; ++c) {
    triples[c] = static_cast<float>(2 + random() % 1'000'000);
    triples[2 * kAll + c] = std::abs(triples[2 * kAll + c]) * triples[c];
  }
  triples[2 * kAll + 1] = 0;
  triples[2 * kAll + 2] = std::numeric_limits<float>::denorm_min();
  triples[2 * kAll + 3] = triples[kAll + 36] = std::numeric_limits<float>::infinity();
  triples[kAll + 4] = triples[2 * kAll + 36] = std::numeric_limits<float>::quiet_NaN();
  triples[kAll + 5] = -0.0f;
  Tensor sums = random_numbers(2 * kAll, random);
  sums[0] = 0;
  sums[kAll + 1] = std::numeric_limits<float>::denorm_min();
  const Tensor means(triples.begin() + kAll, triples.begin() + 2 * kAll);
  Tensor variances, running_mean = random_numbers(kAll, random), running_var(kAll, 1.0f);
  for (std::size_t c = 0; c < kAll; ++c) variances.push_back(triples[2 * kAll + c] / triples[c]);
  const Tensor coefficients = plain_coefficients(means, variances, gamma, beta, kEps);
  const Tensor factors = plain_factors(triples, coefficients, gamma, sums);
  Tensor next_mean = running_mean, next_var = running_var;
  plain_running(triples, kMomentum, next_mean, next_var);

  for (const Kernels* row : usable_kernels()) {
    for (const auto& [first, count] :
         std::vector<std::pair<std::size_t, std::size_t>>{{0, 37}, {0, 16}, {16, 21}, {5, 0}, {36, 1}}) {
      SCOPED_TRACE(fmt::format("{}, {} channels from {}", row->name, count, first));
      const auto part_of_all = [first = first, count = count](const Tensor& all) {
        Tensor part = all;
        for (std::size_t i = 0; i < part.size(); ++i)
          if (i % kAll < first || i % kAll >= first + count) part[i] = kUntouched;
        return part;
      };
      Tensor found(4 * kAll, kUntouched);
      const float* const from = triples.data() + first;
      row->norm_coefficients({from, from + kAll, from + 2 * kAll, gamma.data() + first, beta.data() + first,
                              kEps, found.data() + first, kAll, count});
      EXPECT_THAT(found, SameBits(part_of_all(coefficients)));
      std::ranges::fill(found, kUntouched);
      row->norm_coefficients({nullptr, means.data() + first, variances.data() + first, gamma.data() + first,
                              beta.data() + first, kEps, found.data() + first, kAll, count});
      EXPECT_THAT(found, SameBits(part_of_all(coefficients)));

      found.assign(3 * kAll, kUntouched);
      row->norm_factors(
          {from, coefficients.data() + first, sums.data() + first, found.data() + first, kAll, count});
      EXPECT_THAT(found, SameBits(part_of_all(factors)));

      Tensor mean = part_of_all(running_mean), variance = part_of_all(running_var);
      row->norm_running({from, kMomentum, mean.data() + first, variance.data() + first, kAll, count});
      EXPECT_THAT(mean, SameBits(part_of_all(next_mean)));
      EXPECT_THAT(variance, SameBits(part_of_all(next_var)));
    }
  }
}

}  // namespace
}  // namespace lockstep::cpu
