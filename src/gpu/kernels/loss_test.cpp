// The loss kernel as C++ against the naive twin, bit for bit.
#include <gtest/gtest.h>

#include "arithmetic/pack.h"
#include "gpu/kernels/draw_for_test.h"
#include "reference/lane_tree.h"
#include "reference/softmax_cross_entropy.h"

namespace lockstep::gpu {
namespace {

TEST(LossKernel, EqualsTheTwinWithAndWithoutItsGradient) {
  for (const int examples : {1, 16, 37, 200}) {
    for (const int classes : {1, 2, 10}) {
      Draw draw(6);
      const auto count = static_cast<std::size_t>(examples), width = static_cast<std::size_t>(classes);
      std::vector<float> z = draw.normal(count * width);
      for (float& score : z) score = draw.whole(0, 4) == 0 ? 1.0f : score * 20;
      std::vector<std::uint8_t> labels(count);
      for (std::uint8_t& label : labels) label = static_cast<std::uint8_t>(draw.whole(0, classes - 1));
      const reference::Loss expected = reference::softmax_cross_entropy(classes, z, labels);

      const int packs = arithmetic::pack_count(examples);
      const std::size_t places = static_cast<std::size_t>(packs) * LANES;
      const std::vector<float> z_packs = to_packs(std::span<const float>(z), count);
      std::vector<std::uint8_t> all_labels = labels;
      all_labels.resize(places);
      std::vector<float> losses(places, kNan), sums(places / LANES, kNan), dz(z_packs.size(), kNan);
      std::vector<int> predicted(places);
      for (const int with_gradient : {0, 1}) {
        run_items(places / LANES + kOverhang, [&](HostKernels& k) {
          k.loss(z_packs.data(), all_labels.data(), losses.data(), sums.data(), predicted.data(), dz.data(),
                 classes, examples, packs, with_gradient);
        });
        EXPECT_EQ(std::isnan(dz[0]), with_gradient == 0);
      }
      std::vector<float> all_losses = expected.loss, all_sums;
      all_losses.resize(places);
      for (std::size_t first = 0; first < places; first += LANES) {
        all_sums.push_back(reference::lane_tree(std::span(all_losses).subspan(first, LANES)) + 0.0f);
      }
      int correct = 0;
      for (std::size_t e = 0; e < count; ++e) correct += predicted[e] == labels[e];
      EXPECT_EQ(correct, expected.correct);
      EXPECT_EQ(law_bits(losses), law_bits(all_losses));
      EXPECT_EQ(law_bits(sums), law_bits(all_sums));
      EXPECT_EQ(law_bits(dz), law_bits(to_packs(std::span<const float>(expected.dz), count)));
    }
  }
}

}  // namespace
}  // namespace lockstep::gpu
