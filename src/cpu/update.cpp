#include "cpu/update.h"

namespace lockstep::cpu {

void update(const Kernels& kernels, arithmetic::UpdateKind rule, const UpdateOperands& operands,
            const arithmetic::UpdateScalars& scalars) {
  switch (rule) {
    case arithmetic::UpdateKind::sgd:
      return kernels.sgd(operands, scalars);
    case arithmetic::UpdateKind::momentum:
      return kernels.momentum_sgd(operands, scalars);
    case arithmetic::UpdateKind::nesterov:
      return kernels.nesterov_sgd(operands, scalars);
    case arithmetic::UpdateKind::adam:
      return kernels.adam(operands, scalars);
    case arithmetic::UpdateKind::adamw:
      return kernels.adamw(operands, scalars);
  }
}

}  // namespace lockstep::cpu
