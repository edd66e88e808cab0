// Batch norm as plain loops, written from docs/arithmetic.md: what the kernels and whole steps of a device
// are held against. Images are [example][channel][position]; statistics [pack or group][number][channel].
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "arithmetic/pack.h"
#include "reference/lane_tree.h"

namespace lockstep::gpu {

class NormLaw {
 public:
  int channels = 1, positions = 1, examples = 1;
  int group_packs = 0;  // 0: all
  bool relu = false;
  float eps = 1e-5f, momentum = 0.1f;

  std::size_t elements() const { return at(examples, 0, 0); }
  int packs() const { return (examples + arithmetic::kPack - 1) / arithmetic::kPack; }
  int groups() const { return group_packs == 0 ? 1 : (packs() + group_packs - 1) / group_packs; }
  int group_of(int pack) const { return group_packs == 0 ? 0 : pack / group_packs; }

  std::vector<float> triples(const std::vector<float>& x) const {  // of packs
    std::vector<float> result;
    for (int pack = 0; pack < packs(); ++pack) {
      std::array<std::vector<float>, 3> rows;
      for (int c = 0; c < channels; ++c) {
        const auto n =
            static_cast<float>(std::min(arithmetic::kPack, examples - pack * arithmetic::kPack) * positions);
        const float mean = chains(pack, [&](float sum, int e, int i) { return sum + x[at(e, c, i)]; }) / n;
        const float squares = chains(pack, [&](float sum, int e, int i) {
          const float d = x[at(e, c, i)] - mean;
          return std::fma(d, d, sum);
        });
        rows[0].push_back(n);
        rows[1].push_back(mean);
        rows[2].push_back(squares);
      }
      for (const std::vector<float>& row : rows) result.insert(result.end(), row.begin(), row.end());
    }
    return result;
  }

  // Rows of packs -> rows of groups, by the pack tree over the packs of each group.
  std::vector<float> group_triples(const std::vector<float>& of_packs) const {
    return grouped(of_packs, 3, [&](std::vector<float> left, const std::vector<float>& right) {
      const std::size_t n = size();
      for (std::size_t c = 0; c < n; ++c) {
        float &number = left[c], &mean = left[n + c], &squares = left[2 * n + c];
        const float delta = right[n + c] - mean;
        const float q = right[c] / (number + right[c]);
        squares = std::fma(delta * delta, number * q, squares + right[2 * n + c]);
        mean = std::fma(delta, q, mean);
        number = number + right[c];
      }
      return left;
    });
  }
  std::vector<float> group_sums(const std::vector<float>& of_packs) const {
    std::vector<float> sums =
        grouped(of_packs, 2, [](std::vector<float> left, const std::vector<float>& right) {
          for (std::size_t i = 0; i < left.size(); ++i) left[i] = left[i] + right[i];
          return left;
        });
    for (float& sum : sums) sum = sum + 0.0f;
    return sums;
  }

  // mean, r, scale, shift of one group, from its mean and variance
  std::vector<float> coefficients(const std::vector<float>& mean, const std::vector<float>& variance,
                                  const std::vector<float>& gamma, const std::vector<float>& beta) const {
    const std::size_t n = size();
    std::vector<float> result(4 * n);
    for (std::size_t c = 0; c < n; ++c) {
      const float r = 1.0f / std::sqrt(variance[c] + eps), scale = gamma[c] * r;
      result[c] = mean[c];
      result[n + c] = r;
      result[2 * n + c] = scale;
      result[3 * n + c] = std::fma(-mean[c], scale, beta[c]);
    }
    return result;
  }
  std::vector<float> coefficients(const std::vector<float>& group_triples, const std::vector<float>& gamma,
                                  const std::vector<float>& beta) const {
    std::vector<float> result;
    for (std::size_t g = 0; g < group_triples.size() / (3 * size()); ++g) {
      std::vector<float> mean, variance;
      for (std::size_t c = 0; c < size(); ++c) {
        mean.push_back(number(group_triples, 3, g, 1, c));
        variance.push_back(number(group_triples, 3, g, 2, c) / number(group_triples, 3, g, 0, c));
      }
      const std::vector<float> of_group = coefficients(mean, variance, gamma, beta);
      result.insert(result.end(), of_group.begin(), of_group.end());
    }
    return result;
  }

  // The addend of a residual sum may be missing.
  std::vector<float> forward(const std::vector<float>& x, const std::vector<float>& coefficients,
                             const std::vector<float>& addend = {}) const {
    std::vector<float> y(x.size());
    each([&](int e, int c, int i) {
      const auto of = [&](int n) { return number(coefficients, 4, group(e), n, index(c)); };
      float value = std::fma(x[at(e, c, i)], of(2), of(3));
      if (!addend.empty()) value = value + addend[at(e, c, i)];
      y[at(e, c, i)] = !relu || value > 0 || value != value ? value : 0.0f;
    });
    return y;
  }

  // dbeta, dgamma of packs. `y` counts with relu only.
  std::vector<float> sums(const std::vector<float>& dy, const std::vector<float>& x,
                          const std::vector<float>& coefficients, const std::vector<float>& y) const {
    std::vector<float> result;
    for (int pack = 0; pack < packs(); ++pack) {
      std::vector<float> gammas;
      for (int c = 0; c < channels; ++c) {
        const auto of = [&](int n) {
          return number(coefficients, 4, static_cast<std::size_t>(group_of(pack)), n, index(c));
        };
        result.push_back(
            chains(pack, [&](float sum, int e, int i) { return sum + passed(dy, y, at(e, c, i)); }) + 0.0f);
        gammas.push_back(chains(pack,
                                [&](float sum, int e, int i) {
                                  const float h = (x[at(e, c, i)] - of(0)) * of(1);
                                  return std::fma(passed(dy, y, at(e, c, i)), h, sum);
                                }) +
                         0.0f);
      }
      result.insert(result.end(), gammas.begin(), gammas.end());
    }
    return result;
  }

  std::vector<float> factors(const std::vector<float>& group_triples, const std::vector<float>& coefficients,
                             const std::vector<float>& group_sums) const {
    const std::size_t n = size(), all = group_triples.size() / (3 * n);
    std::vector<float> result(all * 3 * n);
    for (std::size_t g = 0; g < all; ++g) {
      for (std::size_t c = 0; c < n; ++c) {
        const float count = number(group_triples, 3, g, 0, c), r = number(coefficients, 4, g, 1, c);
        const float a = number(coefficients, 4, g, 2, c);
        result[(g * 3 + 0) * n + c] = a;
        result[(g * 3 + 1) * n + c] = -((a * r) * (number(group_sums, 2, g, 1, c) / count));
        result[(g * 3 + 2) * n + c] = -(a * (number(group_sums, 2, g, 0, c) / count));
      }
    }
    return result;
  }

  std::vector<float> input_gradient(const std::vector<float>& dy, const std::vector<float>& x,
                                    const std::vector<float>& coefficients, const std::vector<float>& factors,
                                    const std::vector<float>& y) const {
    std::vector<float> dx(x.size());
    each([&](int e, int c, int i) {
      const auto of = [&](int n) { return number(factors, 3, group(e), n, index(c)); };
      const float centred = x[at(e, c, i)] - number(coefficients, 4, group(e), 0, index(c));
      dx[at(e, c, i)] = std::fma(of(0), passed(dy, y, at(e, c, i)), std::fma(of(1), centred, of(2))) + 0.0f;
    });
    return dx;
  }

  void running(const std::vector<float>& group_triples, std::vector<float>& mean,
               std::vector<float>& variance) const {
    for (std::size_t g = 0; g < group_triples.size() / (3 * size()); ++g) {
      for (std::size_t c = 0; c < size(); ++c) {
        const float count = number(group_triples, 3, g, 0, c);
        mean[c] = std::fma(momentum, number(group_triples, 3, g, 1, c) - mean[c], mean[c]);
        variance[c] =
            std::fma(momentum, number(group_triples, 3, g, 2, c) / (count - 1.0f) - variance[c], variance[c]);
      }
    }
  }

 private:
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }
  std::size_t size() const { return index(channels); }
  std::size_t at(int e, int c, int i) const {
    return (index(e) * size() + index(c)) * index(positions) + index(i);
  }
  std::size_t group(int e) const { return index(group_of(e / arithmetic::kPack)); }
  float number(const std::vector<float>& statistics, std::size_t numbers, std::size_t row, int n,
               std::size_t channel) const {
    return statistics[(row * numbers + index(n)) * size() + channel];
  }
  float passed(const std::vector<float>& dy, const std::vector<float>& y, std::size_t i) const {
    return !relu || y[i] > 0 ? dy[i] : 0.0f;
  }

  template <class Each>
  void each(Each of) const {
    for (int e = 0; e < examples; ++e) {
      for (int c = 0; c < channels; ++c) {
        for (int i = 0; i < positions; ++i) of(e, c, i);
      }
    }
  }
  // Per lane a chain over the positions from +0, then the lane tree.
  template <class Step>
  float chains(int pack, Step step) const {
    std::array<float, arithmetic::kPack> lanes{};
    for (int lane = 0; lane < arithmetic::kPack; ++lane) {
      const int e = pack * arithmetic::kPack + lane;
      for (int i = 0; e < examples && i < positions; ++i) lanes[index(lane)] = step(lanes[index(lane)], e, i);
    }
    return reference::lane_tree(lanes);
  }
  // The left part of a range is the largest power of two below its size.
  template <class Meet>
  std::vector<float> tree(const std::vector<std::vector<float>>& rows, int first, int last, Meet meet) const {
    if (last - first == 1) return rows[index(first)];
    int left = 1;
    while (2 * left < last - first) left *= 2;
    return meet(tree(rows, first, first + left, meet), tree(rows, first + left, last, meet));
  }
  template <class Meet>
  std::vector<float> grouped(const std::vector<float>& of_packs, int numbers, Meet meet) const {
    std::vector<std::vector<float>> rows;
    const auto row = static_cast<std::ptrdiff_t>(index(numbers) * size());
    for (auto from = of_packs.begin(); from != of_packs.end(); from += row)
      rows.emplace_back(from, from + row);
    std::vector<float> result;
    const int each = group_packs == 0 ? packs() : group_packs;
    for (int first = 0; first < packs(); first += each) {
      const std::vector<float> whole = tree(rows, first, std::min(first + each, packs()), meet);
      result.insert(result.end(), whole.begin(), whole.end());
    }
    return result;
  }
};

}  // namespace lockstep::gpu
