#include "cpu/convolution_plans.h"

#include <optional>

#include "cpu/grouped_plan.h"
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
    const program::Convolution& whole =
        uses.forward != nullptr ? uses.forward->convolution : uses.input_gradient->convolution;
    const Layer layer{prepared, whole, whole.of_group(), epilogue_of(uses),
                      whole.groups == 1 ? most_packs_ : 1};
    if (whole.algorithms.winograd()) return add_winograd(layer, uses);
    const Direction direction = uses.forward != nullptr ? Direction::forward : Direction::input_gradient;
    if (WindowPlan::suits(layer.group, layer.epilogue)) {
      add_direct<WindowPlan>(layer, direction, std::make_shared<WindowPlan>(layer.group, kernels_, caches_));
    } else {
      add_direct<TapTilePlan>(layer, direction,
                              std::make_shared<TapTilePlan>(layer.group, direction, layer.epilogue,
                                                            layer.most_packs, kernels_, caches_));
    }
  }

  ConvolutionPlans take() { return std::move(plans_); }

 private:
  // A layer is planned as one of its groups. Without groups this is the layer itself.
  struct Layer {
    program::BufferId prepared;
    const program::Convolution& whole;
    const program::Convolution group;
    program::Epilogue epilogue;  // of the forward pass
    int most_packs;
  };

  static program::Epilogue epilogue_of(const Uses& uses) {
    return uses.forward != nullptr ? uses.forward->epilogue : program::Epilogue::none;
  }

  // Floats from the prepared weights of a group to those of the next.
  std::ptrdiff_t add_weights(const Layer& layer, std::shared_ptr<const PreparedWeights> of_group) {
    if (layer.whole.groups == 1) {
      plans_.weights.emplace(layer.prepared, std::move(of_group));
      return 0;
    }
    auto weights = std::make_shared<const GroupedWeights>(layer.whole, std::move(of_group));
    const std::ptrdiff_t step = weights->step();
    plans_.weights.emplace(layer.prepared, std::move(weights));
    return step;
  }

  void add_plan(const Layer& layer, Direction direction, std::ptrdiff_t weights_step,
                std::shared_ptr<const ConvolutionPlan> of_group) {
    if (layer.whole.groups > 1) {
      const program::Epilogue epilogue =
          direction == Direction::forward ? layer.epilogue : program::Epilogue::none;
      of_group = std::make_shared<const GroupedPlan>(layer.whole, direction, epilogue, std::move(of_group),
                                                     weights_step);
    }
    plans_.layers.emplace(std::pair{layer.prepared, direction}, std::move(of_group));
  }

  // A plan that prepares its own weights.
  template <class Plan>
  void add_direct(const Layer& layer, Direction direction, const std::shared_ptr<const Plan>& plan) {
    add_plan(layer, direction, add_weights(layer, plan), plan);
  }

  // A pooled layer's masks do not lie one behind the other.
  int packs_of(const Layer& layer) const {
    const bool pooled = layer.epilogue == program::Epilogue::relu_average_pool;
    return weights_leave_cache(layer.group, caches_) && !pooled ? layer.most_packs : 1;
  }

  void add_winograd(const Layer& layer, const Uses& uses) {
    const program::Convolution& c = layer.group;
    const int packs = packs_of(layer), tiles = packs * TileGrid(c).count();
    const auto layout = [&](Direction direction) {
      return make_product_layout(c, direction, tiles, kernels_, caches_);
    };
    const ProductLayout forward = layout(Direction::forward);
    std::optional<ProductLayout> back;
    if (uses.input_gradient != nullptr) back = layout(Direction::input_gradient);
    const auto weights = std::make_shared<const WinogradWeights>(c, forward, back, kernels_);
    const std::ptrdiff_t weights_step = add_weights(layer, weights);
    const auto add_layer = [&](Direction direction, program::Epilogue epilogue, const ProductLayout& l) {
      add_plan(layer, direction, weights_step,
               std::make_shared<const WinogradPlan>(c, direction, epilogue, packs, l,
                                                    weights->offset(direction), kernels_));
    };
    add_layer(Direction::forward, layer.epilogue, forward);
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
