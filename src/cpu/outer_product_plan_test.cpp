// The weight and bias gradient of a linear layer for several packs at once, against plain chains and the pack
// tree's stack.
#include "cpu/outer_product_plan.h"

#include <bit>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "arithmetic/tree.h"
#include "base/aligned_buffer.h"

namespace lockstep::cpu {
namespace {

constexpr int kIn = 48, kOut = 53, kPacks = 16, kDepth = 8;
constexpr std::size_t kWeights = std::size_t{kIn} * kOut;

struct Operands {
  AlignedBuffer<float> x{kPacks * kIn * kPack}, dy{kPacks * kOut * kPack};

  Operands() {
    std::mt19937 random(3);
    std::normal_distribution<float> normal;
    for (float& v : x.span()) v = normal(random);
    for (float& v : dy.span()) v = normal(random);
  }
  const float* x_of(int pack) const { return x.data() + std::ptrdiff_t{pack} * kIn * kPack; }
  const float* dy_of(int pack) const { return dy.data() + std::ptrdiff_t{pack} * kOut * kPack; }
};

// A stack of sums, [depth][element].
struct Stack {
  explicit Stack(std::size_t count) : elements(count), sums(kDepth * count) {}

  JoinTarget target(const arithmetic::JoinStep& step) {
    JoinTarget target;
    target.joins = step.joins;
    for (int j = 0; j < step.joins; ++j) target.sums[static_cast<std::size_t>(j)] = at(step.depth - 1 - j);
    target.destination = at(step.depth - step.joins);
    return target;
  }
  float* at(int depth) { return sums.data() + static_cast<std::size_t>(depth) * elements; }

  std::size_t elements;
  AlignedBuffer<float> sums;
};

// What a stack holds for packs `held`, one element at a time; `of_pack` is the element's sum in a pack.
template <class OfPack>
std::vector<float> expected(arithmetic::PackRange held, OfPack of_pack) {
  std::vector<float> stack;
  const auto schedule = arithmetic::join_schedule(kPacks, held);
  for (int pack = held.first; pack < held.last; ++pack) {
    float sum = of_pack(pack);
    for (int j = 0; j < schedule[static_cast<std::size_t>(pack - held.first)].joins; ++j) {
      sum = stack.back() + sum;
      stack.pop_back();
    }
    stack.push_back(sum);
  }
  return stack;
}

void expect_equal(Stack& stack, std::size_t element, const std::vector<float>& sums) {
  for (std::size_t depth = 0; depth < sums.size(); ++depth) {
    const float got = stack.at(static_cast<int>(depth))[element];
    ASSERT_EQ(std::bit_cast<std::uint32_t>(got), std::bit_cast<std::uint32_t>(sums[depth]))
        << "element " << element << ", sum " << depth;
  }
}

void check_groups(const Kernels& kernels, arithmetic::PackRange held, int group) {
  static const Operands operands;
  program::Convolution linear{};
  linear.input = {kIn, 1, 1};
  linear.output = {kOut, 1, 1};
  const OuterProductPlan plan(linear, kernels);
  AlignedBuffer<float> scratch(plan.scratch_floats(group));
  Stack weights(kWeights), bias(64);
  const auto schedule = arithmetic::join_schedule(kPacks, held);
  for (int first = held.first; first < held.last; first += group) {
    std::vector<OuterProductPlan::PackOperands> packs;
    for (int pack = first; pack < std::min(first + group, held.last); ++pack) {
      const arithmetic::JoinStep& step = schedule[static_cast<std::size_t>(pack - held.first)];
      packs.push_back({operands.x_of(pack), operands.dy_of(pack), weights.target(step), bias.target(step)});
    }
    plan.run(packs, scratch.data());
  }
  for (int o = 0; o < kOut; ++o) {
    for (int i = 0; i < kIn; ++i) {
      const auto chain = [&](int pack) {
        float sum = 0;
        for (int e = 0; e < kPack; ++e) {
          sum = std::fma(operands.dy_of(pack)[o * kPack + e], operands.x_of(pack)[i * kPack + e], sum);
        }
        return sum;
      };
      const std::size_t element = static_cast<std::size_t>(o) * kIn + static_cast<std::size_t>(i);
      expect_equal(weights, element, expected(held, chain));
    }
    const auto lanes = [&](int pack) {
      std::array<float, kPack> values{};
      std::copy_n(operands.dy_of(pack) + o * kPack, kPack, values.begin());
      return arithmetic::lane_tree(values);
    };
    expect_equal(bias, static_cast<std::size_t>(o), expected(held, lanes));
  }
}

TEST(OuterProductPlan, SumsDoNotDependOnHowManyPacksRunAtOnce) {
  for (const Kernels* kernels : usable_kernels()) {
    for (const int group : {1, 2, 3, 4, 7, 16}) {
      for (const arithmetic::PackRange held : {arithmetic::PackRange{0, 16}, {3, 14}, {5, 9}}) {
        SCOPED_TRACE(testing::Message() << kernels->name << ", " << group << " packs at once, from "
                                        << held.first << " to " << held.last);
        check_groups(*kernels, held, group);
      }
    }
  }
}

}  // namespace
}  // namespace lockstep::cpu
