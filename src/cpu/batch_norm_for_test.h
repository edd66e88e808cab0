// Batch norm as plain loops, written from docs/arithmetic.md. Activations are [channel][position][lane].
#pragma once
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "arithmetic/pack.h"

namespace lockstep::cpu {

// What is computed of a pack.
struct PlainNorm {
  static constexpr std::size_t kLanes = arithmetic::kPack;
  using Numbers = std::vector<float>;

  std::size_t channels, positions, present;

  Numbers triples(const Numbers& x) const {
    const auto n = static_cast<float>(present * positions);
    Numbers to(3 * channels);
    for (std::size_t c = 0; c < channels; ++c) {
      const float m = sum(c, [&](float s, std::size_t i) { return s + x[i]; }) / n;
      to[c] = n;
      to[channels + c] = m;
      to[2 * channels + c] = sum(c, [&](float s, std::size_t i) {
        const float d = x[i] - m;
        return std::fma(d, d, s);
      });
    }
    return to;
  }

  // The addend of a residual sum may be missing.
  Numbers forward(const Numbers& x, const Numbers& coefficients, bool relu,
                  const Numbers& addend = {}) const {
    Numbers y(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::size_t c = i / (positions * kLanes);
      y[i] = std::fma(x[i], coefficients[2 * channels + c], coefficients[3 * channels + c]);
      if (!addend.empty()) y[i] = y[i] + addend[i];
      if (relu && !(y[i] > 0) && y[i] == y[i]) y[i] = 0;
    }
    return y;
  }

  // dy behind a relu that gave y; without a relu, y is empty.
  static float gradient(const Numbers& dy, const Numbers& y, std::size_t i) {
    return y.empty() || y[i] > 0 ? dy[i] : 0.0f;
  }

  Numbers sums(const Numbers& dy, const Numbers& x, const Numbers& y, const Numbers& coefficients) const {
    Numbers to(2 * channels);
    for (std::size_t c = 0; c < channels; ++c) {
      const float mean = coefficients[c], r = coefficients[channels + c];
      to[c] = sum(c, [&](float s, std::size_t i) { return s + gradient(dy, y, i); });
      to[channels + c] = sum(c, [&](float s, std::size_t i) {
        const float h = (x[i] - mean) * r;
        return std::fma(gradient(dy, y, i), h, s);
      });
    }
    return to;
  }

  Numbers input_gradient(const Numbers& dy, const Numbers& x, const Numbers& y, const Numbers& coefficients,
                         const Numbers& factors) const {
    Numbers dx(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (i % kLanes >= present) continue;
      const std::size_t c = i / (positions * kLanes);
      const float a = factors[c], b = factors[channels + c], e = factors[2 * channels + c];
      dx[i] = std::fma(a, gradient(dy, y, i), std::fma(b, x[i] - coefficients[c], e)) + 0.0f;
    }
    return dx;
  }

 private:
  // Chains of the lanes that are present, then the lane tree.
  template <class Term>
  float sum(std::size_t channel, const Term& term) const {
    std::array<float, kLanes> lanes{};
    for (std::size_t lane = 0; lane < present; ++lane) {
      for (std::size_t p = 0; p < positions; ++p)
        lanes[lane] = term(lanes[lane], (channel * positions + p) * kLanes + lane);
    }
    for (std::size_t half = kLanes / 2; half > 0; half /= 2) {
      for (std::size_t lane = 0; lane < half; ++lane) lanes[lane] = lanes[lane] + lanes[lane + half];
    }
    return lanes[0];
  }
};

// ---- of a group: [number][channel]

inline std::vector<float> plain_coefficients(const std::vector<float>& means,
                                             const std::vector<float>& variances,
                                             const std::vector<float>& gamma, const std::vector<float>& beta,
                                             float eps) {
  const std::size_t channels = gamma.size();
  std::vector<float> to(4 * channels);
  for (std::size_t c = 0; c < channels; ++c) {
    const float r = 1.0f / std::sqrt(variances[c] + eps);
    const float scale = gamma[c] * r;
    to[c] = means[c];
    to[channels + c] = r;
    to[2 * channels + c] = scale;
    to[3 * channels + c] = std::fma(-means[c], scale, beta[c]);
  }
  return to;
}

inline std::vector<float> plain_factors(const std::vector<float>& triples,
                                        const std::vector<float>& coefficients,
                                        const std::vector<float>& gamma, const std::vector<float>& sums) {
  const std::size_t channels = gamma.size();
  std::vector<float> to(3 * channels);
  for (std::size_t c = 0; c < channels; ++c) {
    const float number = triples[c], r = coefficients[channels + c], a = gamma[c] * r;
    to[c] = a;
    to[channels + c] = -((a * r) * (sums[channels + c] / number));
    to[2 * channels + c] = -(a * (sums[c] / number));
  }
  return to;
}

inline void plain_running(const std::vector<float>& triples, float momentum, std::vector<float>& mean,
                          std::vector<float>& variance) {
  const std::size_t channels = mean.size();
  for (std::size_t c = 0; c < channels; ++c) {
    mean[c] = std::fma(momentum, triples[channels + c] - mean[c], mean[c]);
    const float statistic = triples[2 * channels + c] / (triples[c] - 1.0f);
    variance[c] = std::fma(momentum, statistic - variance[c], variance[c]);
  }
}

}  // namespace lockstep::cpu
