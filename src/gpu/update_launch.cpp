#include "gpu/update_launch.h"

namespace lockstep::gpu {

UpdateLaunch update_launch(arithmetic::UpdateKind rule, const GpuMemory& memory, int first, int count,
                           const arithmetic::UpdateScalars& s) {
  const auto with_momentum = [&](const char* kernel) -> UpdateLaunch {
    return {kernel,
            {memory.parameters(), memory.states(0), memory.gradients(), first, count, s.learning_rate,
             s.momentum, s.weight_decay}};
  };
  const auto with_moments = [&](const char* kernel) -> UpdateLaunch {
    return {kernel,
            {memory.parameters(), memory.states(0), memory.states(1), memory.gradients(), first, count,
             s.learning_rate, s.beta1, s.one_minus_beta1, s.beta2, s.one_minus_beta2, s.eps, s.weight_decay}};
  };
  switch (rule) {
    case arithmetic::UpdateKind::sgd:
      return {"sgd",
              {memory.parameters(), memory.gradients(), first, count, s.learning_rate, s.weight_decay}};
    case arithmetic::UpdateKind::momentum:
      return with_momentum("momentum_sgd");
    case arithmetic::UpdateKind::nesterov:
      return with_momentum("nesterov_sgd");
    case arithmetic::UpdateKind::adam:
      return with_moments("adam");
    case arithmetic::UpdateKind::adamw:
      return with_moments("adamw");
  }
  return {};
}

}  // namespace lockstep::gpu
