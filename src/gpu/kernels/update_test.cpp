// The kernels of the update rules as C++ against the naive twins, bit for bit.
#include "reference/update.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/same_bits_for_test.h"
#include "gpu/kernels/draw_for_test.h"

namespace lockstep::gpu {
namespace {

// A kernel of an update rule, called with the scalars that it takes.
void run_update(HostKernels& k, arithmetic::UpdateKind rule, std::vector<std::vector<float>>& tensors,
                const std::vector<float>& g, const arithmetic::UpdateScalars& s) {
  constexpr int kFirst = 3, kCount = 40;
  float* const w = tensors[0].data();
  switch (rule) {
    case arithmetic::UpdateKind::sgd:
      return k.sgd(w, g.data(), kFirst, kCount, s.learning_rate, s.weight_decay);
    case arithmetic::UpdateKind::momentum:
      return k.momentum_sgd(w, tensors[1].data(), g.data(), kFirst, kCount, s.learning_rate, s.momentum,
                            s.weight_decay);
    case arithmetic::UpdateKind::nesterov:
      return k.nesterov_sgd(w, tensors[1].data(), g.data(), kFirst, kCount, s.learning_rate, s.momentum,
                            s.weight_decay);
    case arithmetic::UpdateKind::adam:
      return k.adam(w, tensors[1].data(), tensors[2].data(), g.data(), kFirst, kCount, s.learning_rate,
                    s.beta1, s.one_minus_beta1, s.beta2, s.one_minus_beta2, s.eps, s.weight_decay);
    case arithmetic::UpdateKind::adamw:
      return k.adamw(w, tensors[1].data(), tensors[2].data(), g.data(), kFirst, kCount, s.learning_rate,
                     s.beta1, s.one_minus_beta1, s.beta2, s.one_minus_beta2, s.eps, s.weight_decay);
  }
}

TEST(UpdateKernels, UpdatesAreTheTwinsAndTouchTheirRangeOnly) {
  Draw draw(8);
  for (const arithmetic::UpdateRule& rule : arithmetic::kUpdateRules) {
    for (const float decay : {0.0f, 0.01f}) {
      const arithmetic::UpdateScalars scalars{.learning_rate = 0.3f,
                                              .momentum = 0.9f,
                                              .weight_decay = decay,
                                              .beta1 = 0.9f,
                                              .one_minus_beta1 = 0.1f,
                                              .beta2 = 0.999f,
                                              .one_minus_beta2 = 0.001f,
                                              .eps = 1e-8f};
      const std::vector<float> g = draw.normal(50);
      std::vector<std::vector<float>> tensors;
      for (std::size_t t = 0; t < 1 + rule.states.size(); ++t) tensors.push_back(draw.normal(50));
      // a mean of squares
      if (rule.states.size() == 2)
        std::ranges::transform(tensors[2], tensors[2].begin(), [](float v) { return v * v; });
      std::vector<std::vector<float>> expected = tensors;
      run_items(blocks(40), [&](HostKernels& k) { run_update(k, rule.kind, tensors, g, scalars); });

      const auto part = [](std::vector<float>& all) { return std::span(all).subspan(3, 40); };
      std::vector<std::vector<float>> states;
      for (std::size_t s = 1; s < expected.size(); ++s)
        states.emplace_back(part(expected[s]).begin(), part(expected[s]).end());
      reference::update(rule.kind, part(expected[0]), states, std::span(g).subspan(3, 40), scalars);
      for (std::size_t s = 1; s < expected.size(); ++s)
        std::ranges::copy(states[s - 1], part(expected[s]).begin());
      for (std::size_t t = 0; t < expected.size(); ++t)
        EXPECT_THAT(tensors[t], SameBits(expected[t]))
            << rule.name << ", tensor " << t << ", decay " << decay;
    }
  }
}

}  // namespace
}  // namespace lockstep::gpu
