// The kernels that join sums of packs, as C++ against the naive pack tree, bit for bit.
#include <gtest/gtest.h>

#include "arithmetic/tree.h"
#include "base/same_bits_for_test.h"
#include "gpu/kernels/draw_for_test.h"
#include "reference/pack_tree.h"

namespace lockstep::gpu {
namespace {

// Two devices hold the packs of a minibatch; the second one's subtrees are in the first one's inbox.
TEST(JoinKernels, SubtreesJoinInThePackTree) {
  constexpr int elements = 21, first = 4, count = 13, examples = 37;
  for (int packs = 1; packs <= 19; ++packs) {
    for (int split = 1; split <= packs; ++split) {
      Draw draw(static_cast<unsigned>(packs));
      std::vector<float> sums = draw.normal(static_cast<std::size_t>(packs * elements));
      for (std::size_t i = 0; i < sums.size(); ++i) {
        if (i % elements % 3 == 0) sums[i] = -0.0f;  // whose sum is +0 when it is finished
      }
      std::vector<float> held(8 * elements, kNan), inbox(8 * elements, kNan), gradient(elements, -7.0f);
      std::vector<arithmetic::PackRange> subtrees;
      std::vector<int> plan;
      for (const arithmetic::PackRange range : {arithmetic::PackRange{0, split}, {split, packs}}) {
        if (range.size() == 0) continue;
        std::vector<int> schedule;
        for (const auto step : arithmetic::join_schedule(packs, range)) {
          schedule.push_back(step.depth);
          schedule.push_back(step.joins);
        }
        std::vector<float>& stack = range.first == 0 ? held : inbox;
        // In two groups of packs.
        const int early = range.size() / 2;
        for (const arithmetic::PackRange group : {arithmetic::PackRange{0, early}, {early, range.size()}}) {
          run_items(blocks(elements), [&](HostKernels& k) {
            k.join_packs(sums.data() + (range.first + group.first) * elements, stack.data(), schedule.data(),
                         elements, group.first, group.size());
          });
        }
        int level = 0;
        for (const arithmetic::PackRange subtree : arithmetic::cover(packs, range)) {
          subtrees.push_back(subtree);
          plan.push_back(range.first == 0 ? 0 : 1);
          plan.push_back(elements * level++ + first);
        }
      }
      const auto pairs = arithmetic::join_pairs(packs, {0, packs}, subtrees);
      for (const arithmetic::JoinPair pair : pairs) {
        plan.push_back(pair.into);
        plan.push_back(pair.from);
      }
      run_items(blocks(count), [&](HostKernels& k) {
        k.join(held.data(), inbox.data(), plan.data(), gradient.data(), first, count,
               static_cast<int>(subtrees.size()), static_cast<int>(pairs.size()), examples);
      });
      for (int e = 0; e < elements; ++e) {
        std::vector<float> of_packs;
        for (int p = 0; p < packs; ++p) of_packs.push_back(sums[static_cast<std::size_t>(p * elements + e)]);
        const bool inside = first <= e && e < first + count;
        const float mean = (reference::pack_tree(of_packs) + 0.0f) / static_cast<float>(examples);
        ASSERT_THAT(gradient[static_cast<std::size_t>(e)], SameBits(inside ? mean : -7.0f))
            << packs << ' ' << split;
      }
    }
  }
}

}  // namespace
}  // namespace lockstep::gpu
