#include "cpu/update.h"

namespace lockstep::cpu {

void update(const Kernels& kernels, arithmetic::UpdateKind rule, const UpdateOperands& operands,
            const arithmetic::UpdateScalars& scalars) {
  const auto& [weights, gradient, states, count] = operands;
  switch (rule) {
    case arithmetic::UpdateKind::sgd:
      return kernels.sgd(weights, gradient, count, scalars.learning_rate);
    case arithmetic::UpdateKind::momentum:
      return kernels.momentum_sgd(weights, states[0], gradient, count,
                                  {scalars.learning_rate, scalars.momentum});
  }
}

}  // namespace lockstep::cpu
