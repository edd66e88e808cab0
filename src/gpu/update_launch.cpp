#include "gpu/update_launch.h"

namespace lockstep::gpu {

UpdateLaunch update_launch(arithmetic::UpdateKind rule, const GpuMemory& memory, int first, int count,
                           const arithmetic::UpdateScalars& scalars) {
  switch (rule) {
    case arithmetic::UpdateKind::sgd:
      return {"sgd", {memory.parameters(), memory.gradients(), first, count, scalars.learning_rate}};
    case arithmetic::UpdateKind::momentum:
      return {"momentum_sgd",
              {memory.parameters(), memory.states(0), memory.gradients(), first, count, scalars.learning_rate,
               scalars.momentum}};
  }
  return {};
}

}  // namespace lockstep::gpu
