#include "cpu/convolution_plans.h"

#include <optional>

#include "cpu/tap_tile_plan.h"
#include "cpu/window_plan.h"
#include "cpu/winograd_plan.h"
#include "cpu/winograd_weights.h"

namespace lockstep::cpu {
namespace {

// Both uses of a layer's prepared weights; a direct layer prepares each use by itself.
struct Uses {
  const program::Forward* forward = nullptr;
  const program::InputGradient* input_gradient = nullptr;
};

class Planner {
 public:
  Planner(int most_packs, const Kernels& kernels, const CacheSizes& caches)
      : most_packs_(most_packs), kernels_(kernels), caches_(caches) {}

  void add(program::BufferId prepared, const Uses& uses) {
    const program::Convolution& c =
        uses.forward != nullptr ? uses.forward->convolution : uses.input_gradient->convolution;
    if (c.algorithms.winograd()) return add_winograd(prepared, c, uses);
    const Direction direction = uses.forward != nullptr ? Direction::forward : Direction::input_gradient;
    if (WindowPlan::suits(c, epilogue_of(uses))) {
      add_direct<WindowPlan>(prepared, direction, std::make_shared<WindowPlan>(c, kernels_, caches_));
    } else {
      add_direct<TapTilePlan>(
          prepared, direction,
          std::make_shared<TapTilePlan>(c, direction, epilogue_of(uses), most_packs_, kernels_, caches_));
    }
  }

  ConvolutionPlans take() { return std::move(plans_); }

 private:
  static program::Epilogue epilogue_of(const Uses& uses) {
    return uses.forward != nullptr ? uses.forward->epilogue : program::Epilogue::none;
  }

  // A plan that prepares its own weights.
  template <class Plan>
  void add_direct(program::BufferId prepared, Direction direction, std::shared_ptr<const Plan> plan) {
    plans_.weights.emplace(prepared, plan);
    plans_.layers.emplace(std::pair{prepared, direction}, plan);
  }

  // A pooled layer's masks do not lie one behind the other.
  int packs_of(const program::Convolution& c, const Uses& uses) const {
    const bool pooled = epilogue_of(uses) == program::Epilogue::relu_average_pool;
    return weights_leave_cache(c, caches_) && !pooled ? most_packs_ : 1;
  }

  void add_winograd(program::BufferId prepared, const program::Convolution& c, const Uses& uses) {
    const int packs = packs_of(c, uses), tiles = packs * TileGrid(c).count();
    const auto layout = [&](Direction direction) {
      return make_product_layout(c, direction, tiles, kernels_, caches_);
    };
    const ProductLayout forward = layout(Direction::forward);
    std::optional<ProductLayout> back;
    if (uses.input_gradient != nullptr) back = layout(Direction::input_gradient);
    const auto weights = std::make_shared<WinogradWeights>(c, forward, back, kernels_);
    const auto add_layer = [&](Direction direction, program::Epilogue epilogue, const ProductLayout& l) {
      plans_.layers.emplace(std::pair{prepared, direction},
                            std::make_shared<WinogradPlan>(c, direction, epilogue, packs, l,
                                                           weights->offset(direction), kernels_));
    };
    plans_.weights.emplace(prepared, weights);
    add_layer(Direction::forward, epilogue_of(uses), forward);
    if (back) add_layer(Direction::input_gradient, program::Epilogue::none, *back);
  }

  const int most_packs_;
  const Kernels& kernels_;
  const CacheSizes& caches_;
  ConvolutionPlans plans_;
};

}  // namespace

ConvolutionPlans make_convolution_plans(const program::Program& program, int most_packs,
                                        const Kernels& kernels, const CacheSizes& caches) {
  std::map<program::BufferId, Uses> uses;
  for (const program::Segment& segment : program.segments) {
    for (const program::Instruction& i : segment.instructions) {
      if (const auto* f = std::get_if<program::Forward>(&i.operation)) uses[i.inputs[1]].forward = f;
      if (const auto* g = std::get_if<program::InputGradient>(&i.operation)) {
        uses[i.inputs[1]].input_gradient = g;
      }
    }
  }
  Planner planner(most_packs, kernels, caches);
  for (const auto& [prepared, of_it] : uses) planner.add(prepared, of_it);
  return planner.take();
}

}  // namespace lockstep::cpu
