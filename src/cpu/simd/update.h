// The update rules. A rule and a decay are small objects that work on one vector; a loop runs them over the
// elements. Per-target header.
#if defined(LOCKSTEP_CPU_SIMD_UPDATE_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOCKSTEP_CPU_SIMD_UPDATE_H_
#undef LOCKSTEP_CPU_SIMD_UPDATE_H_
#else
#define LOCKSTEP_CPU_SIMD_UPDATE_H_
#endif
#include <algorithm>

#include "cpu/jobs/update.h"
#include "cpu/simd/vector.h"

HWY_BEFORE_NAMESPACE();
namespace lockstep::cpu::HWY_NAMESPACE {

using arithmetic::UpdateScalars;
using StateVectors = std::array<float*, arithmetic::kMostStates>;  // where the states of a vector stand

// ---- decay: changes the weight or the gradient before the rule

struct NoDecay {
  HWY_INLINE void operator()(Vec&, Vec&) const {}
};

// g = fma(wd, w, g)
struct DecayOfGradient {
  Vec decay;
  HWY_INLINE void operator()(Vec& weight, Vec& gradient) const {
    gradient = hn::MulAdd(decay, weight, gradient);
  }
};

// w = fma(-(lr*wd), w, w)
struct DecayOfWeight {
  Vec minus_decay;
  HWY_INLINE void operator()(Vec& weight, Vec&) const { weight = hn::MulAdd(minus_decay, weight, weight); }
};

// ---- rules: change the states where they stand and return the new weight

// w = fma(-lr, g, w)
struct SgdRule {
  Vec minus_rate;
  HWY_INLINE Vec operator()(Vec weight, Vec gradient, const StateVectors&) const {
    return hn::MulAdd(minus_rate, gradient, weight);
  }
};

// v = fma(mu, v, g), w = fma(-lr, v, w)
struct MomentumRule {
  Vec minus_rate, momentum;
  HWY_INLINE Vec operator()(Vec weight, Vec gradient, const StateVectors& states) const {
    const Vec velocity = hn::MulAdd(momentum, load_anywhere(states[0]), gradient);
    store_anywhere(velocity, states[0]);
    return hn::MulAdd(minus_rate, velocity, weight);
  }
};

// v = fma(mu, v, g), w = fma(-lr, fma(mu, v, g), w)
struct NesterovRule {
  Vec minus_rate, momentum;
  HWY_INLINE Vec operator()(Vec weight, Vec gradient, const StateVectors& states) const {
    const Vec velocity = hn::MulAdd(momentum, load_anywhere(states[0]), gradient);
    store_anywhere(velocity, states[0]);
    return hn::MulAdd(minus_rate, hn::MulAdd(momentum, velocity, gradient), weight);
  }
};

// m = fma(b1, m, (1-b1)*g), v = fma(b2, v, ((1-b2)*g)*g), w = fma(-lr_t, m / (sqrt(v) + eps_t), w)
struct AdamRule {
  Vec minus_rate, beta1, rest1, beta2, rest2, eps;
  explicit AdamRule(const UpdateScalars& s)
      : minus_rate(hn::Set(kTag, -s.learning_rate)),
        beta1(hn::Set(kTag, s.beta1)),
        rest1(hn::Set(kTag, s.one_minus_beta1)),
        beta2(hn::Set(kTag, s.beta2)),
        rest2(hn::Set(kTag, s.one_minus_beta2)),
        eps(hn::Set(kTag, s.eps)) {}
  HWY_INLINE Vec operator()(Vec weight, Vec gradient, const StateVectors& states) const {
    const Vec first = hn::MulAdd(beta1, load_anywhere(states[0]), hn::Mul(rest1, gradient));
    const Vec second =
        hn::MulAdd(beta2, load_anywhere(states[1]), hn::Mul(hn::Mul(rest2, gradient), gradient));
    store_anywhere(first, states[0]);
    store_anywhere(second, states[1]);
    return hn::MulAdd(minus_rate, hn::Div(first, hn::Add(hn::Sqrt(second), eps)), weight);
  }
};

// ---- the loop

template <class Decay, class Rule>
HWY_INLINE void update_vector(float* weights, const float* gradient, const StateVectors& states,
                              const Decay& decay, const Rule& rule) {
  Vec w = load_anywhere(weights), g = load_anywhere(gradient);
  decay(w, g);
  store_anywhere(rule(w, g, states), weights);
}

// The last elements stand in vectors of their own, so that they are rounded like the rest.
template <std::size_t kStates, class Decay, class Rule>
HWY_INLINE void update_all(const UpdateOperands& o, const Decay& decay, const Rule& rule) {
  std::size_t i = 0;
  for (; i + kLanes <= o.count; i += kLanes) {
    StateVectors states{};
    for (std::size_t s = 0; s < kStates; ++s) states[s] = o.states[s] + i;
    update_vector(o.weights + i, o.gradient + i, states, decay, rule);
  }
  const std::size_t rest = o.count - i;
  if (rest == 0) return;
  alignas(64) float weights[kLanes] = {}, gradient[kLanes] = {};
  alignas(64) float state[arithmetic::kMostStates][kLanes] = {};
  StateVectors states{};
  std::copy_n(o.weights + i, rest, weights);
  std::copy_n(o.gradient + i, rest, gradient);
  for (std::size_t s = 0; s < kStates; ++s) {
    states[s] = state[s];
    std::copy_n(o.states[s] + i, rest, state[s]);
  }
  update_vector(weights, gradient, states, decay, rule);
  std::copy_n(weights, rest, o.weights + i);
  for (std::size_t s = 0; s < kStates; ++s) std::copy_n(state[s], rest, o.states[s] + i);
}

// A decay of 0 is absent.
template <std::size_t kStates, class Rule>
HWY_INLINE void update_with_decay_of_gradient(const UpdateOperands& o, const UpdateScalars& s,
                                              const Rule& rule) {
  if (s.weight_decay == 0) return update_all<kStates>(o, NoDecay{}, rule);
  update_all<kStates>(o, DecayOfGradient{hn::Set(kTag, s.weight_decay)}, rule);
}

HWY_NOINLINE inline void sgd(const UpdateOperands& o, const UpdateScalars& s) {
  update_with_decay_of_gradient<0>(o, s, SgdRule{hn::Set(kTag, -s.learning_rate)});
}

HWY_NOINLINE inline void momentum_sgd(const UpdateOperands& o, const UpdateScalars& s) {
  update_with_decay_of_gradient<1>(o, s,
                                   MomentumRule{hn::Set(kTag, -s.learning_rate), hn::Set(kTag, s.momentum)});
}

HWY_NOINLINE inline void nesterov_sgd(const UpdateOperands& o, const UpdateScalars& s) {
  update_with_decay_of_gradient<1>(o, s,
                                   NesterovRule{hn::Set(kTag, -s.learning_rate), hn::Set(kTag, s.momentum)});
}

HWY_NOINLINE inline void adam(const UpdateOperands& o, const UpdateScalars& s) {
  update_with_decay_of_gradient<2>(o, s, AdamRule(s));
}

HWY_NOINLINE inline void adamw(const UpdateOperands& o, const UpdateScalars& s) {
  if (s.weight_decay == 0) return update_all<2>(o, NoDecay{}, AdamRule(s));
  update_all<2>(o, DecayOfWeight{hn::Set(kTag, -s.weight_decay)}, AdamRule(s));
}

}  // namespace lockstep::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
