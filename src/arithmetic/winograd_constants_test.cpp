// The table and the law's text, both held against exact rational numbers.
#include "arithmetic/winograd_constants.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace lockstep::arithmetic {
namespace {

__extension__ typedef __int128 Whole;

// The greatest common divisor of both, not negative.
Whole common_divisor(Whole a, Whole b) {
  while (b != 0) {
    const Whole rest = a % b;
    a = b;
    b = rest;
  }
  return a < 0 ? -a : a;
}

// In lowest terms, the divisor positive. All numbers here stay far below 2^127.
struct Rational {
  Whole over = 0, under = 1;

  Rational(Whole whole = 0) : over(whole) {}  // NOLINT: an integer is a rational number
  Rational(Whole numerator, Whole denominator) {
    const Whole common = common_divisor(numerator, denominator) * (denominator < 0 ? -1 : 1);
    over = numerator / common;
    under = denominator / common;
  }
  friend Rational operator+(Rational a, Rational b) {
    return {a.over * b.under + b.over * a.under, a.under * b.under};
  }
  friend Rational operator*(Rational a, Rational b) { return {a.over * b.over, a.under * b.under}; }
  friend Rational operator/(Rational a, Rational b) { return {a.over * b.under, a.under * b.over}; }
  friend Rational operator-(Rational a) { return {-a.over, a.under}; }
  friend Rational operator-(Rational a, Rational b) { return a + -b; }
  friend bool operator==(Rational, Rational) = default;
};

Rational exactly(float value) {
  int exponent = 0;
  const auto digits = static_cast<std::int64_t>(std::ldexp(std::frexp(value, &exponent), 24));
  const int shift = exponent - 24;
  return shift < 0 ? Rational(digits, Whole{1} << -shift) : Rational(digits << shift);
}

// To nearest, ties to even, decided in rationals between the neighbours of an estimate.
float rounded(Rational exact) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const auto estimate =
      static_cast<float>(static_cast<double>(exact.over) / static_cast<double>(exact.under));
  float best = estimate;
  for (const float other : {std::nextafter(estimate, -kInfinity), std::nextafter(estimate, kInfinity)}) {
    const Rational beyond_middle = exact - (exactly(best) + exactly(other)) / 2;
    const Whole nearer = other > best ? beyond_middle.over : -beyond_middle.over;
    const bool even = std::bit_cast<std::uint32_t>(other) % 2 == 0;
    if (nearer > 0 || (nearer == 0 && even)) best = other;
  }
  return best;
}

TEST(RationalNumbers, AreRoundedToNearestEven) {
  constexpr std::int64_t k2To25 = 1 << 25;
  EXPECT_EQ(rounded({1, 3}), 0x1.555556p-2f);
  EXPECT_EQ(rounded({k2To25 + 2, k2To25}), 1.0f);             // half way, one below is even
  EXPECT_EQ(rounded({k2To25 + 3, k2To25}), 1.0f + 0x1p-23f);  // a little above half way
  EXPECT_EQ(rounded({k2To25 + 6, k2To25}), 1.0f + 0x1p-22f);  // half way, one above is even
  EXPECT_EQ(rounded({-k2To25 - 5, k2To25}), -1.0f - 0x1p-23f);
}

// ---- the law's constants

using Numbers = std::vector<Rational>;

Rational power(Rational p, std::size_t exponent) {
  Rational product = 1;
  for (std::size_t k = 0; k < exponent; ++k) product = product * p;
  return product;
}

// Coefficients in rising order of the product of (z - p_j^2), but for the point that is left out.
Numbers polynomial(const Numbers& points, std::size_t left_out) {
  Numbers product{1};
  for (std::size_t j = 0; j < points.size(); ++j) {
    if (j == left_out) continue;
    Numbers next(product.size() + 1);
    for (std::size_t k = 0; k < product.size(); ++k) {
      next[k] = next[k] - power(points[j], 2) * product[k];
      next[k + 1] = next[k + 1] + product[k];
    }
    product = next;
  }
  return product;
}

struct Law {
  Numbers p, z;
  std::vector<Numbers> q;
  Rational s0;
  Numbers s;
  bool infinity;

  explicit Law(std::size_t n) : p(points(n)), infinity(n % 2 == 0) {
    z = polynomial(p, p.size());
    s0 = Rational(1) / z[0];
    for (std::size_t i = 0; i < p.size(); ++i) {
      q.push_back(polynomial(p, i));
      Rational value;
      for (std::size_t k = 0; k < q[i].size(); ++k) value = value + q[i][k] * power(p[i], 2 * k);
      s.push_back(Rational(1) / (2 * power(p[i], 2) * value));
    }
  }
  std::size_t frequencies() const { return 2 * p.size() + (infinity ? 2 : 1); }

 private:
  static Numbers points(std::size_t n) {
    if (n == 4) return {1};
    if (n == 6) return {{5, 8}, {3, 2}};
    if (n == 8) return {1, {1, 2}, 2};
    return {{1, 2}, {7, 8}, {3, 2}, 4};
  }
};

void expect_bits(float in_table, Rational exact) {
  EXPECT_EQ(std::bit_cast<std::uint32_t>(in_table), std::bit_cast<std::uint32_t>(rounded(exact)))
      << in_table << " for " << static_cast<double>(exact.over) << "/" << static_cast<double>(exact.under);
}

template <int N>
void check_table() {
  SCOPED_TRACE(N);
  using Table = WinogradConstants<N>;
  const Law law(N);
  ASSERT_EQ(std::size_t{Table::kPairs}, law.p.size());
  expect_bits(Table::scale0, law.s0);
  for (std::size_t k = 0; k < law.z.size(); ++k) expect_bits(Table::z[k], law.z[k]);
  for (std::size_t i = 0; i < law.p.size(); ++i) {
    expect_bits(Table::scale[i], law.s[i]);
    for (std::size_t k = 0; k < std::size(Table::power[i]); ++k) {
      expect_bits(Table::power[i][k], power(law.p[i], k));
      expect_bits(Table::scaled_power[i][k], law.s[i] * power(law.p[i], k));
    }
    for (std::size_t k = 0; k < law.p.size(); ++k) {
      expect_bits(Table::q[i][k], law.q[i][k]);
      expect_bits(Table::pq[i][k], law.p[i] * law.q[i][k]);
    }
  }
}

TEST(WinogradConstants, AreTheLawsRoundedOnce) {
  check_table<4>();
  check_table<6>();
  check_table<8>();
  check_table<9>();
}

TEST(WinogradConstants, AreThoseTheLawWritesOut) {
  const Law six(6), eight(8), nine(9);
  EXPECT_EQ(six.z, (Numbers{{225, 256}, {-169, 64}, 1}));
  EXPECT_EQ(six.q, (std::vector<Numbers>{{{-9, 4}, 1}, {{-25, 64}, 1}}));
  EXPECT_EQ(six.s0, Rational(256, 225));
  EXPECT_EQ(six.s, (Numbers{{-2048, 2975}, {128, 1071}}));
  EXPECT_EQ(eight.z, (Numbers{-1, {21, 4}, {-21, 4}, 1}));
  EXPECT_EQ(eight.q, (std::vector<Numbers>{{1, {-17, 4}, 1}, {4, -5, 1}, {{1, 4}, {-5, 4}, 1}}));
  EXPECT_EQ(eight.s0, Rational(-1));
  EXPECT_EQ(eight.s, (Numbers{{-2, 9}, {32, 45}, {1, 90}}));
  EXPECT_EQ(nine.z, (Numbers{{441, 64}, {-41017, 1024}, {7005, 128}, {-1233, 64}, 1}));
  EXPECT_EQ(nine.q, (std::vector<Numbers>{{{-441, 16}, {12793, 256}, {-1217, 64}, 1},
                                          {-9, {649, 16}, {-37, 2}, 1},
                                          {{-49, 16}, {4209, 256}, {-1089, 64}, 1},
                                          {{-441, 1024}, {317, 128}, {-209, 64}, 1}}));
  EXPECT_EQ(nine.s0, Rational(64, 441));
  EXPECT_EQ(nine.s, (Numbers{{-256, 2079}, {8388608, 149774625}, {-256, 47025}, {32, 3378375}}));
}

// ---- the law's transforms, without roundings

// A, and with the scales G.
Numbers evaluate(const Law& law, const Numbers& y) {
  Numbers f{y.front()};
  for (const Rational p : law.p) {
    Rational even = y[0], odd = y[1];
    for (std::size_t k = 2; k < y.size(); k += 2) even = even + power(p, k) * y[k];
    for (std::size_t k = 3; k < y.size(); k += 2) odd = odd + power(p, k - 1) * y[k];
    f.push_back(even + p * odd);
    f.push_back(even - p * odd);
  }
  if (law.infinity) f.push_back(y.back());
  return f;
}
Numbers evaluate_scaled(const Law& law, const Numbers& y) {
  Numbers f = evaluate(law, y);
  f[0] = law.s0 * f[0];
  for (std::size_t i = 0; i < law.p.size(); ++i) {
    for (const std::size_t at : {2 * i + 1, 2 * i + 2}) f[at] = law.s[i] * f[at];
  }
  return f;
}

// Bt.
Numbers input(const Law& law, const Numbers& d) {
  const std::size_t pairs = law.p.size();
  Numbers f(law.frequencies());
  f.front() = d[2 * pairs];
  if (law.infinity) f.back() = d[2 * pairs + 1];
  for (std::size_t k = 0; k < pairs; ++k) {
    f.front() = f.front() + law.z[k] * d[2 * k];
    if (law.infinity) f.back() = f.back() + law.z[k] * d[2 * k + 1];
  }
  for (std::size_t i = 0; i < pairs; ++i) {
    Rational even = d[2 * pairs], odd = d[2 * pairs - 1];
    for (std::size_t k = 0; k + 1 < pairs; ++k) {
      even = even + law.q[i][k] * d[2 * k + 2];
      odd = odd + law.q[i][k] * d[2 * k + 1];
    }
    f[2 * i + 1] = even + law.p[i] * odd;
    f[2 * i + 2] = even - law.p[i] * odd;
  }
  return f;
}

Rational sum(const Numbers& f, std::size_t i) { return f[2 * i + 1] + f[2 * i + 2]; }
Rational difference(const Numbers& f, std::size_t i) { return f[2 * i + 1] - f[2 * i + 2]; }

// At with scales of 1, Gt with the law's.
Numbers back(const Law& law, std::size_t outputs, const Numbers& f, Rational factor_of_zero,
             const Numbers& scales) {
  Numbers y(outputs);
  for (std::size_t j = 0; j < outputs; ++j) {
    for (std::size_t i = 0; i < law.p.size(); ++i) {
      y[j] = y[j] + scales[i] * power(law.p[i], j) * (j % 2 == 0 ? sum(f, i) : difference(f, i));
    }
  }
  y.front() = y.front() + factor_of_zero * f.front();
  if (law.infinity) y.back() = y.back() + f.back();
  return y;
}

// B.
Numbers input_back(const Law& law, const Numbers& f) {
  Numbers x(law.frequencies());
  x.front() = law.z[0] * f.front();
  if (law.infinity) x.back() = f.back();
  for (std::size_t k = 0; k < law.p.size(); ++k) {
    for (std::size_t i = 0; i < law.p.size(); ++i) {
      x[2 * k + 2] = x[2 * k + 2] + law.q[i][k] * sum(f, i);
      x[2 * k + 1] = x[2 * k + 1] + law.p[i] * law.q[i][k] * difference(f, i);
    }
    x[2 * k + 2] = x[2 * k + 2] + law.z[k + 1] * f.front();
    if (law.infinity) x[2 * k + 1] = x[2 * k + 1] + law.z[k] * f.back();
  }
  return x;
}

// ---- what they must satisfy

struct Sizes {
  std::size_t outputs, weights;
};
constexpr std::array kSizes{Sizes{2, 3}, Sizes{4, 3}, Sizes{7, 3}, Sizes{2, 5}, Sizes{4, 5}};

Numbers unit(std::size_t size, std::size_t at) {
  Numbers line(size);
  line[at] = 1;
  return line;
}

TEST(WinogradLaw, MultipliesAsConvolutionDoes) {
  for (const auto [outputs, weights] : kSizes) {
    const Law law(outputs + weights - 1);
    ASSERT_EQ(law.frequencies(), outputs + weights - 1);
    for (std::size_t i = 0; i < outputs; ++i) {
      for (std::size_t k = 0; k < weights; ++k) {
        const Numbers a = evaluate(law, unit(outputs, i)), g = evaluate_scaled(law, unit(weights, k));
        for (std::size_t pixel = 0; pixel < law.frequencies(); ++pixel) {
          const Numbers d = input(law, unit(law.frequencies(), pixel));
          Rational product;
          for (std::size_t f = 0; f < d.size(); ++f) product = product + a[f] * g[f] * d[f];
          EXPECT_EQ(product, Rational(pixel == i + k ? 1 : 0)) << outputs << weights << i << k << pixel;
        }
      }
    }
  }
}

// `back` is `there` transposed: back(e_f)_j is there(e_j)_f.
template <class There, class Back>
void expect_transposed(std::size_t lines, std::size_t frequencies, There there, Back back_again) {
  for (std::size_t j = 0; j < lines; ++j) {
    const Numbers column = there(unit(lines, j));
    for (std::size_t f = 0; f < frequencies; ++f) {
      EXPECT_EQ(back_again(unit(frequencies, f))[j], column[f])
          << lines << " " << frequencies << " " << j << f;
    }
  }
}

TEST(WinogradLaw, GoesBackByTheTransposedTransforms) {
  for (const auto [outputs, weights] : kSizes) {
    const Law law(outputs + weights - 1);
    const Numbers ones(law.p.size(), 1);
    expect_transposed(
        outputs, law.frequencies(), [&](const Numbers& y) { return evaluate(law, y); },
        [&, n = outputs](const Numbers& f) { return back(law, n, f, 1, ones); });
    expect_transposed(
        weights, law.frequencies(), [&](const Numbers& g) { return evaluate_scaled(law, g); },
        [&, n = weights](const Numbers& f) { return back(law, n, f, law.s0, law.s); });
    expect_transposed(
        law.frequencies(), law.frequencies(), [&](const Numbers& d) { return input(law, d); },
        [&](const Numbers& f) { return input_back(law, f); });
  }
}

}  // namespace
}  // namespace lockstep::arithmetic
