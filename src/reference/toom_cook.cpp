#include "reference/toom_cook.h"

#include <cmath>

namespace lockstep::reference {
namespace {

// Every constant but s is a fraction with a small denominator that is a power of two: exact in double, as are
// the two sides of the division that gives s and its products. The divisor has at most 28 bits, powers of two
// aside. So a quotient that is not half way between two floats is at least 2^-52 of itself away from there,
// and rounding it to double and then to float is the same as rounding it once.
using Polynomial = std::vector<double>;  // coefficients in rising order

// p^0 to p^4 serve lines of up to five numbers; a line of seven outputs needs p^6.
int powers(int frequencies) { return frequencies == 9 ? 7 : 5; }

std::vector<double> points(int frequencies) {
  if (frequencies == 4) return {1};
  if (frequencies == 6) return {5.0 / 8, 3.0 / 2};
  if (frequencies == 8) return {1, 1.0 / 2, 2};
  return {1.0 / 2, 7.0 / 8, 3.0 / 2, 4};
}

// The product of (z - root).
Polynomial with_roots(const std::vector<double>& roots) {
  Polynomial product{1};
  for (const double root : roots) {
    Polynomial next(product.size() + 1);
    for (std::size_t k = 0; k < product.size(); ++k) {
      next[k + 1] += product[k];
      next[k] -= root * product[k];
    }
    product = next;
  }
  return product;
}

double value_at(const Polynomial& polynomial, double z) {
  double value = 0;
  for (std::size_t k = polynomial.size(); k-- > 0;) value = value * z + polynomial[k];
  return value;
}

Line rounded(const Polynomial& exact) {
  Line line;
  line.reserve(exact.size());
  for (const double value : exact) line.push_back(static_cast<float>(value));
  return line;
}

PointPair pair_of(double p, const std::vector<double>& other_squares, int powers) {
  const Polynomial q = with_roots(other_squares);
  const double divisor = 2 * p * p * value_at(q, p * p);
  Polynomial power{1}, pq, scaled;
  for (int k = 1; k < powers; ++k) power.push_back(power.back() * p);
  for (const double coefficient : q) pq.push_back(p * coefficient);
  for (const double numerator : power) scaled.push_back(numerator / divisor);
  return {rounded(power), rounded(q), rounded(pq), static_cast<float>(1 / divisor), rounded(scaled)};
}

std::size_t plus(std::size_t pair) { return 2 * pair + 1; }
std::size_t minus(std::size_t pair) { return 2 * pair + 2; }

Line evaluate(const ToomCook& toom_cook, const Line& y) {
  Line f(toom_cook.frequencies());
  f.front() = y.front();
  if (toom_cook.infinity()) f.back() = y.back();
  for (std::size_t i = 0; i < toom_cook.pairs.size(); ++i) {
    const Line& power = toom_cook.pairs[i].power;
    float even = y[0], odd = y[1];
    for (std::size_t k = 2; k < y.size(); k += 2) even = std::fma(power[k], y[k], even);
    for (std::size_t k = 3; k < y.size(); k += 2) odd = std::fma(power[k - 1], y[k], odd);
    f[plus(i)] = std::fma(power[1], odd, even);
    f[minus(i)] = std::fma(-power[1], odd, even);
  }
  return f;
}

// coefficient(pair, j) is c_ij.
template <class Coefficient>
Line back(std::size_t outputs, const Line& f, float factor_of_zero, Coefficient coefficient) {
  const std::size_t pairs = (f.size() - 1) / 2;
  Line y(outputs);
  for (std::size_t j = 0; j < outputs; ++j) {
    const auto x = [&](std::size_t i) {
      return j % 2 == 0 ? f[plus(i)] + f[minus(i)] : f[plus(i)] - f[minus(i)];
    };
    y[j] = coefficient(0, j) * x(0);
    for (std::size_t i = 1; i < pairs; ++i) y[j] = std::fma(coefficient(i, j), x(i), y[j]);
  }
  y.front() = std::fma(factor_of_zero, f.front(), y.front());
  if (f.size() % 2 == 0) y.back() = y.back() + f.back();
  return y;
}

Plane transposed(const Plane& plane) {
  Plane result(plane.front().size(), Line(plane.size()));
  for (std::size_t y = 0; y < plane.size(); ++y) {
    for (std::size_t x = 0; x < result.size(); ++x) result[x][y] = plane[y][x];
  }
  return result;
}

}  // namespace

ToomCook::ToomCook(int outputs, int weights) : tile(outputs), kernel(weights) {
  const std::vector<double> p = points(tile + kernel - 1);
  std::vector<double> squares;
  squares.reserve(p.size());
  for (const double point : p) squares.push_back(point * point);
  for (std::size_t i = 0; i < p.size(); ++i) {
    std::vector<double> others = squares;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    pairs.push_back(pair_of(p[i], others, powers(tile + kernel - 1)));
  }
  const Polynomial exact_z = with_roots(squares);
  z = rounded(exact_z);
  scale = static_cast<float>(1 / exact_z[0]);
}

Line ToomCook::of_output_gradient(const Line& dy) const { return evaluate(*this, dy); }

Line ToomCook::of_weights(const Line& w) const {
  Line f = evaluate(*this, w);
  f.front() = scale * f.front();
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    f[plus(i)] = pairs[i].scale * f[plus(i)];
    f[minus(i)] = pairs[i].scale * f[minus(i)];
  }
  return f;
}

Line ToomCook::of_input(const Line& d) const {
  const std::size_t count = pairs.size();
  Line f(frequencies());
  f.front() = d[2 * count];
  if (infinity()) f.back() = d[2 * count + 1];
  for (std::size_t k = count; k-- > 0;) {
    f.front() = std::fma(z[k], d[2 * k], f.front());
    if (infinity()) f.back() = std::fma(z[k], d[2 * k + 1], f.back());
  }
  for (std::size_t i = 0; i < count; ++i) {
    const Line& q = pairs[i].q;
    const float p = pairs[i].power[1];
    float even = d[2 * count], odd = d[2 * count - 1];
    for (std::size_t k = count - 1; k-- > 0;) {
      even = std::fma(q[k], d[2 * k + 2], even);
      odd = std::fma(q[k], d[2 * k + 1], odd);
    }
    f[plus(i)] = std::fma(p, odd, even);
    f[minus(i)] = std::fma(-p, odd, even);
  }
  return f;
}

Line ToomCook::output(const Line& f) const {
  return back(static_cast<std::size_t>(tile), f, 1.0f,
              [&](std::size_t i, std::size_t j) { return pairs[i].power[j]; });
}

Line ToomCook::weight_gradient(const Line& f) const {
  return back(static_cast<std::size_t>(kernel), f, scale,
              [&](std::size_t i, std::size_t j) { return pairs[i].scaled_power[j]; });
}

Line ToomCook::input_gradient(const Line& f) const {
  const std::size_t count = pairs.size();
  Line x(frequencies());
  x.front() = z[0] * f.front();
  if (infinity()) x.back() = f.back();
  for (std::size_t k = 0; k < count; ++k) {
    float even = 0, odd = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const float sum = f[plus(i)] + f[minus(i)], difference = f[plus(i)] - f[minus(i)];
      even = i == 0 ? pairs[i].q[k] * sum : std::fma(pairs[i].q[k], sum, even);
      odd = i == 0 ? pairs[i].pq[k] * difference : std::fma(pairs[i].pq[k], difference, odd);
    }
    x[2 * k + 2] = std::fma(z[k + 1], f.front(), even);
    x[2 * k + 1] = infinity() ? std::fma(z[k], f.back(), odd) : odd;
  }
  return x;
}

Plane ToomCook::in_two_dimensions(Transform transform, const Plane& plane) const {
  Plane columns = transposed(plane);
  for (Line& column : columns) column = (this->*transform)(column);
  Plane rows = transposed(columns);
  for (Line& row : rows) row = (this->*transform)(row);
  return rows;
}

}  // namespace lockstep::reference
