// The plans of all layers of a program, by the prepared buffer they read, so that the step which prepares the
// weights and the step which reads them use one layout.
#pragma once
#include <map>
#include <memory>
#include <utility>

#include "cpu/convolution_plan.h"
#include "cpu/kernels.h"
#include "cpu/tiling.h"
#include "program/program.h"

namespace lockstep::cpu {

struct ConvolutionPlans {
  std::map<program::BufferId, std::shared_ptr<const PreparedWeights>> weights;
  std::map<std::pair<program::BufferId, Direction>, std::shared_ptr<const ConvolutionPlan>> layers;
};

// most_packs: how many packs a layer may be given at once.
ConvolutionPlans make_convolution_plans(const program::Program& program, int most_packs,
                                        const Kernels& kernels, const CacheSizes& caches);

}  // namespace lockstep::cpu
