// The kernels of batch norm as C++ against plain loops, bit for bit. Absent lanes hold NaN.
#include <algorithm>

#include <gtest/gtest.h>

#include "base/same_bits_for_test.h"
#include "gpu/kernels/draw_for_test.h"
#include "gpu/kernels/norm_law_for_test.h"

namespace lockstep::gpu {
namespace {

constexpr std::size_t kUntouched = 3;  // floats in front of and behind what a kernel may write
constexpr float kGuard = -7.0f;

std::vector<float> guarded(std::size_t count) { return std::vector<float>(count + 2 * kUntouched, kGuard); }
// What was written; what stands around it was not.
std::vector<float> written(const std::vector<float>& all) {
  for (std::size_t i = 0; i < kUntouched; ++i) {
    EXPECT_THAT(all[i], SameBits(kGuard));
    EXPECT_THAT(all[all.size() - 1 - i], SameBits(kGuard));
  }
  return {all.begin() + kUntouched, all.end() - kUntouched};
}

struct NormCase {
  NormLaw law;
  int first = 0;  // of the packs of one launch; those before it are another launch's
};

std::vector<NormCase> norm_cases() {
  std::vector<NormCase> cases;
  for (const int channels : {1, 3, 17}) {
    for (const int positions : {1, 6, 49}) {
      for (const int examples : {2, 16, 37, 67}) {
        for (const int group_packs : {0, 1, 2}) {
          for (const bool relu : {false, true}) {
            NormLaw law;
            law.channels = channels;
            law.positions = positions;
            law.examples = examples;
            law.group_packs = group_packs;
            law.relu = relu;
            cases.push_back({law, static_cast<int>(cases.size()) % law.packs()});
          }
        }
      }
    }
  }
  return cases;
}

// A case's operands, and launches of its packs in two parts.
class NormOperands {
 public:
  NormOperands(const NormCase& of, unsigned seed) : law(of.law), first_(of.first), draw_(seed) {
    x = draw_.normal(law.elements());
    for (float& value : x) value = value * 0.7f + 3.0f;
    dy = draw_.normal(law.elements());
    for (std::size_t i = 0; i < dy.size(); i += 5) dy[i] = -0.0f;
    const auto channels = static_cast<std::size_t>(law.channels);
    gamma = draw_.normal(channels);
    beta = draw_.normal(channels);
    group_triples = law.group_triples(law.triples(x));
    coefficients = law.coefficients(group_triples, gamma, beta);
    y = law.forward(x, coefficients);
    group_sums = law.group_sums(law.sums(dy, x, coefficients, y));
    factors = law.factors(group_triples, coefficients, group_sums);
  }

  const NormLaw law;
  std::vector<float> x, dy, y, gamma, beta, group_triples, coefficients, group_sums, factors;

  std::vector<float> packed(const std::vector<float>& plain) const {
    return to_packs(std::span(plain), static_cast<std::size_t>(law.examples), kNan);
  }
  std::vector<float> plain(const std::vector<float>& packs) const {
    return from_packs(std::span(packs), static_cast<std::size_t>(law.examples));
  }
  // launch(kernels, shape, first float of activations, first pack) for both parts of the packs
  template <class Launch>
  void over_packs(Launch launch) const {
    for (const auto& [first, last] : {std::pair{0, first_}, std::pair{first_, law.packs()}}) {
      if (first == last) continue;
      const HostKernels::NormShape shape{
          law.channels, law.positions,   last - first,     law.examples - first * LANES,
          first,        law.group_packs, law.relu ? 1 : 0, 0};
      const std::size_t from = static_cast<std::size_t>(first * LANES * law.channels * law.positions);
      run_items(static_cast<std::size_t>((last - first) * law.channels) + kOverhang,
                [&](HostKernels& k) { launch(k, shape, from, static_cast<std::size_t>(first)); });
    }
  }

 private:
  int first_;
  Draw draw_;
};

template <class Test>
void each_norm(Test test) {
  unsigned seed = 0;
  for (const NormCase& each : norm_cases()) {
    SCOPED_TRACE(testing::Message() << each.law.channels << " channels, " << each.law.positions
                                    << " positions, " << each.law.examples << " examples, groups of "
                                    << each.law.group_packs << (each.law.relu ? ", relu" : ""));
    test(NormOperands(each, ++seed));
    if (testing::Test::HasFailure()) return;
  }
}

TEST(NormKernels, StatisticsOfPacks) {
  each_norm([](const NormOperands& o) {
    const std::vector<float> x = o.packed(o.x), expected = o.law.triples(o.x);
    std::vector<float> triples = guarded(expected.size());
    o.over_packs([&](HostKernels& k, const HostKernels::NormShape& s, std::size_t from, std::size_t) {
      k.norm_statistics(x.data() + from, triples.data() + kUntouched, s);
    });
    EXPECT_THAT(written(triples), SameBits(expected));
  });
}

TEST(NormKernels, CoefficientsOfSomeGroups) {
  each_norm([](const NormOperands& o) {
    const int groups = o.law.groups(), first = groups / 2, channels = o.law.channels;
    std::vector<float> found = guarded(o.coefficients.size());
    for (const auto& [from, count] : {std::pair{first, groups - first}, std::pair{0, first}}) {
      run_elements(static_cast<std::size_t>(count * channels) + kOverhang, [&](HostKernels& k) {
        k.norm_coefficients(o.group_triples.data(), o.gamma.data(), o.beta.data(), found.data() + kUntouched,
                            channels, from, count, o.law.eps);
      });
    }
    EXPECT_THAT(written(found), SameBits(o.coefficients));
  });
}

TEST(NormKernels, CoefficientsOfRunningStatistics) {
  each_norm([](const NormOperands& o) {
    const std::vector<float>& mean = o.beta;
    std::vector<float> variance = o.gamma;
    for (float& each : variance) each = each * each;
    std::vector<float> found = guarded(4 * o.gamma.size());
    run_elements(o.gamma.size() + kOverhang, [&](HostKernels& k) {
      k.running_coefficients(mean.data(), variance.data(), o.gamma.data(), o.beta.data(),
                             found.data() + kUntouched, o.law.channels, o.law.eps);
    });
    EXPECT_THAT(written(found), SameBits(o.law.coefficients(mean, variance, o.gamma, o.beta)));
  });
}

TEST(NormKernels, ForwardAlsoInPlace) {
  each_norm([](const NormOperands& o) {
    const std::vector<float> x = o.packed(o.x);
    std::vector<float> y = guarded(x.size()), in_place = x;
    o.over_packs([&](HostKernels& k, const HostKernels::NormShape& s, std::size_t from, std::size_t) {
      k.norm_forward(x.data() + from, o.coefficients.data(), nullptr, y.data() + kUntouched + from, s);
    });
    o.over_packs([&](HostKernels& k, const HostKernels::NormShape& s, std::size_t from, std::size_t) {
      k.norm_forward(in_place.data() + from, o.coefficients.data(), nullptr, in_place.data() + from, s);
    });
    EXPECT_THAT(o.plain(written(y)), SameBits(o.y));
    EXPECT_THAT(o.plain(in_place), SameBits(o.y));
  });
}

// y lies over x, then over the addend; at last x is the addend, too.
TEST(NormKernels, ForwardInAResidualSum) {
  each_norm([](const NormOperands& o) {
    for (const bool over_x : {true, false}) {
      std::vector<float> x = o.packed(o.x), addend = o.packed(o.dy);
      float* const y = over_x ? x.data() : addend.data();
      o.over_packs([&](HostKernels& k, HostKernels::NormShape s, std::size_t from, std::size_t) {
        s.adds = 1;
        k.norm_forward(x.data() + from, o.coefficients.data(), addend.data() + from, y + from, s);
      });
      EXPECT_THAT(o.plain(over_x ? x : addend), SameBits(o.law.forward(o.x, o.coefficients, o.dy)));
    }
    std::vector<float> all = o.packed(o.x);
    o.over_packs([&](HostKernels& k, HostKernels::NormShape s, std::size_t from, std::size_t) {
      s.adds = 1;
      k.norm_forward(all.data() + from, o.coefficients.data(), all.data() + from, all.data() + from, s);
    });
    EXPECT_THAT(o.plain(all), SameBits(o.law.forward(o.x, o.coefficients, o.x)));
  });
}

TEST(NormKernels, SumsOfPacks) {
  each_norm([](const NormOperands& o) {
    const std::vector<float> x = o.packed(o.x), dy = o.packed(o.dy);
    const std::vector<float> expected = o.law.sums(o.dy, o.x, o.coefficients, o.y);
    const auto channels = static_cast<std::size_t>(o.law.channels);
    std::vector<float> sums = guarded(expected.size()), gammas = guarded(expected.size() / 2), betas = gammas;
    o.over_packs([&](HostKernels& k, const HostKernels::NormShape& s, std::size_t from, std::size_t pack) {
      k.norm_sums(dy.data() + from, x.data() + from, o.coefficients.data(), sums.data() + kUntouched,
                  gammas.data() + kUntouched + pack * channels, betas.data() + kUntouched + pack * channels,
                  s);
    });
    EXPECT_THAT(written(sums), SameBits(expected));
    std::vector<float> together;
    for (std::size_t at = kUntouched; at < kUntouched + expected.size() / 2; at += channels) {
      for (const std::vector<float>* each : {&betas, &gammas})
        together.insert(together.end(), each->data() + at, each->data() + at + channels);
    }
    EXPECT_THAT(together, SameBits(expected));
    written(gammas);
    written(betas);
  });
}

TEST(NormKernels, FactorsOfSomeGroups) {
  each_norm([](const NormOperands& o) {
    const int groups = o.law.groups(), first = groups / 2, channels = o.law.channels;
    std::vector<float> found = guarded(o.factors.size());
    for (const auto& [from, count] : {std::pair{first, groups - first}, std::pair{0, first}}) {
      run_elements(static_cast<std::size_t>(count * channels) + kOverhang, [&](HostKernels& k) {
        k.norm_factors(o.group_triples.data(), o.coefficients.data(), o.group_sums.data(),
                       found.data() + kUntouched, channels, from, count);
      });
    }
    EXPECT_THAT(written(found), SameBits(o.factors));
  });
}

TEST(NormKernels, InputGradientOverDyAndAbsentLanesAreZero) {
  each_norm([](const NormOperands& o) {
    const std::vector<float> x = o.packed(o.x);
    const std::vector<float> expected = o.law.input_gradient(o.dy, o.x, o.coefficients, o.factors, o.y);
    std::vector<float> dx = o.packed(o.dy);
    o.over_packs([&](HostKernels& k, const HostKernels::NormShape& s, std::size_t from, std::size_t) {
      k.norm_input_gradient(dx.data() + from, x.data() + from, o.coefficients.data(), o.factors.data(),
                            dx.data() + from, s);
    });
    EXPECT_THAT(dx, SameBits(to_packs(std::span<const float>(expected),
                                      static_cast<std::size_t>(o.law.examples), 0.0f)));
  });
}

TEST(NormKernels, RunningStatisticsTakeAllGroupsInOrder) {
  each_norm([](const NormOperands& o) {
    std::vector<float> mean = o.beta, variance = o.gamma, found_mean = guarded(mean.size()),
                       found_variance = found_mean;
    std::ranges::copy(mean, found_mean.begin() + kUntouched);
    std::ranges::copy(variance, found_variance.begin() + kUntouched);
    o.law.running(o.group_triples, mean, variance);
    run_elements(mean.size() + kOverhang, [&](HostKernels& k) {
      k.norm_running(o.group_triples.data(), found_mean.data() + kUntouched,
                     found_variance.data() + kUntouched, o.law.channels, o.law.groups(), o.law.momentum);
    });
    EXPECT_THAT(written(found_mean), SameBits(mean));
    EXPECT_THAT(written(found_variance), SameBits(variance));
  });
}

}  // namespace
}  // namespace lockstep::gpu
